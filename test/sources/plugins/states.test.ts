import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { textOf } from "../../../src/tool/content.js";
import { type House, house, manifest, statusOf } from "./support.js";

const LONG_MS = 15_000;

async function withDev(home: House, files: Readonly<Record<string, string>>): Promise<Runtime> {
  home.plugin("p1", files);
  home.config("plugins:\n  enabled: [p1]\n");
  await home.confirm("p1", { dev: true });
  return home.open();
}

async function answer(runtime: Runtime, name: string): Promise<string> {
  const session = await runtime.openSession();
  const result = await session.call({ name, arguments: {} });
  return result.error?.code ?? textOf(result.content);
}

it("the reason that is told is always that of the files as they are", async () => {
  const home = house();
  const good = manifest("p1", "provides_tools: [greet]");
  const runtime = await withDev(home, {
    "plugin.yaml": good,
    "index.mjs": 'export default (ctx) => ctx.tool({ name: "greet", schema: {}, handler: () => "hi" });\n',
  });
  home.plugin("p1", { "index.mjs": "throw new Error('first reason');\n" });
  await home.refresh(runtime);
  expect(statusOf(runtime, "p1")?.reason).toContain("index.mjs:1: Error: first reason");
  home.plugin("p1", { "plugin.yaml": "name: [\n" });
  await home.refresh(runtime);
  expect(statusOf(runtime, "p1")?.reason).toContain("plugin.yaml:");
  home.plugin("p1", { "plugin.yaml": good });
  await home.refresh(runtime);
  expect(statusOf(runtime, "p1")?.reason).toContain("index.mjs:1: Error: first reason");
  expect(await answer(runtime, "greet")).toBe("hi");
});

it("what was taken by another plugin comes when that one goes", async () => {
  const home = house();
  const code = (word: string) => `export default (ctx) => {
  ctx.command("COMMAND", { description: "", run: () => 0 });
  ctx.tool({ name: "shared", schema: {}, handler: () => "${word}" });
};\n`;
  const lines = ["provides_commands: [hello, hallo]", "provides_tools: [shared]"];
  const commands = { first: "hello", clashing: "hello", crowded: "hallo" };
  for (const [name, command] of Object.entries(commands)) {
    home.plugin(name, {
      "plugin.yaml": manifest(name, ...lines),
      "index.mjs": code(name).replace("COMMAND", command),
    });
    await home.confirm(name);
  }
  home.config("plugins:\n  enabled: [first, crowded, clashing]\n");
  const runtime = await home.open();
  expect(statusOf(runtime, "clashing")?.reason).toBe("the command hello belongs to the plugin first already");
  expect(statusOf(runtime, "crowded")?.quarantined).toMatchObject([{ name: "shared" }]);
  for (let count = 0; count < 3; count += 1) await home.refresh(runtime);
  expect(runtime.registry.conflicts).toHaveLength(1);
  home.config("plugins:\n  enabled: [crowded, clashing]\n");
  await home.refresh(runtime);
  expect(runtime.sources.plugins?.command("hello")?.plugin).toBe("clashing");
  expect(statusOf(runtime, "crowded")).toMatchObject({ state: "ready", tools: ["shared"], quarantined: [] });
  expect(await answer(runtime, "shared")).toBe("crowded");
  expect(runtime.registry.conflicts.map(({ rejected }) => rejected.toolset)).toEqual(["plugin-clashing"]);
});

it("a top level that holds the event loop is named, for as long as that version is in force", async () => {
  const home = house();
  const hold = "const until = performance.now() + 1050; while (performance.now() < until);";
  const runtime = await withDev(home, {
    "plugin.yaml": manifest("p1"),
    "index.mjs": 'import "./slow.mjs";\nexport default () => {};\n',
    "slow.mjs": hold,
  });
  const named = {
    state: "degraded",
    reason: expect.stringMatching(/its top level blocked the event loop for \d+ ms/),
  };
  expect(statusOf(runtime, "p1")).toMatchObject(named);
  expect(home.log.map(({ line }) => line).join("\n")).toContain("plugin p1: its top level blocked");
  await home.refresh(runtime);
  expect(statusOf(runtime, "p1"), "looking again mends nothing").toMatchObject(named);
  home.plugin("p1", { "slow.mjs": "await new Promise((resolve) => setTimeout(resolve, 20));\n" });
  await home.refresh(runtime);
  expect(statusOf(runtime, "p1")).toMatchObject({ state: "ready" });
});

describe("register", () => {
  const EVERYTHING = [
    "provides_tools: [half]",
    "provides_hooks: [pre_tool_call, post_tool_call, transform_tool_result]",
    "provides_toolsets: [halves]",
    "provides_commands: [halve]",
    "provides_environments: [attic]",
    "provides_approvers: [pager]",
    "provides_model_providers: [tiny]",
  ];

  it("that throws behind everything else leaves nothing of it", async () => {
    const home = house();
    const runtime = await withDev(home, {
      "plugin.yaml": manifest("p1", ...EVERYTHING),
      "index.mjs": `export default (ctx) => {
  ctx.tool({ name: "half", schema: {}, handler: () => 1 });
  for (const hook of ["pre_tool_call", "post_tool_call", "transform_tool_result"]) ctx.hook(hook, () => {});
  ctx.toolset("halves", { tools: ["half"] });
  ctx.command("halve", { description: "", run: () => 0 });
  ctx.environment("attic", () => ({}));
  ctx.approver("pager", () => ({}));
  ctx.modelProvider("tiny", () => ({}));
  THROWN
};\n`.replace("THROWN", "throw new Error('at last');"),
    });
    const { plugins } = runtime.sources;
    const brought = () => [
      runtime.registry.get("half"),
      ...(["pre_tool_call", "post_tool_call", "transform_tool_result"] as const).filter((name) =>
        runtime.hooks.has(name),
      ),
      runtime.toolsets().find(({ name }) => name === "halves"),
      plugins?.command("halve"),
      plugins?.environment("attic"),
      plugins?.approver("pager"),
      plugins?.modelProvider("tiny"),
    ];
    expect(statusOf(runtime, "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("at last"),
    });
    expect(brought().filter((one) => one !== undefined)).toEqual([]);
  });

  it("must bring the hook that the manifest says no call runs without", async () => {
    const home = house();
    const runtime = await withDev(home, {
      "plugin.yaml": manifest("p1", "provides_hooks: [{ name: pre_tool_call, on_failure: closed }]"),
      "index.mjs": "export default () => {};\n",
    });
    expect(statusOf(runtime, "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("promises the hook pre_tool_call"),
    });
    runtime.registry.register({ name: "fine", toolset: "own", schema: {}, handler: () => 1 });
    expect(await answer(runtime, "fine")).toBe("blocked");
  });

  it("of one version never runs twice at once", async () => {
    const home = house();
    const runtime = await withDev(home, {
      "plugin.yaml": manifest("p1"),
      "index.mjs": "export default () => {};\n",
    });
    const state = globalThis as { hermesRegistered?: number; hermesGo?: () => void };
    home.plugin("p1", {
      "index.mjs": `export default () => {
  globalThis.hermesRegistered = (globalThis.hermesRegistered ?? 0) + 1;
  return new Promise((go) => { globalThis.hermesGo = go; });
};\n`,
    });
    const source = runtime.sources.get("plugin");
    const first = source?.refresh(runtime.config);
    await expect.poll(() => state.hermesGo, { timeout: LONG_MS }).toBeDefined();
    const second = source?.refresh(runtime.config);
    await new Promise((resolve) => setTimeout(resolve, 50));
    state.hermesGo?.();
    await Promise.all([first, second]);
    expect(state.hermesRegistered).toBe(1);
    expect(statusOf(runtime, "p1")).toMatchObject({ state: "ready" });
  });
});

it("disabled and enabled again while a call runs: it ends in its version, and each version is closed once", async () => {
  const home = house();
  const state = { log: [] as string[], go: undefined as (() => void) | undefined };
  (globalThis as { hermesTurns?: typeof state }).hermesTurns = state;
  const code = (version: string) => `const state = globalThis.hermesTurns;
export default (ctx) => {
  ctx.onClose(() => { state.log.push("closed ${version}"); });
  ctx.tool({
    name: "wait", schema: {},
    handler: () => new Promise((resolve) => { state.go = () => resolve("${version}"); }),
  });
};\n`;
  const files = { "plugin.yaml": manifest("p1", "provides_tools: [wait]"), "index.mjs": code("v1") };
  const runtime = await withDev(home, files);
  const running = answer(runtime, "wait");
  await expect.poll(() => state.go, { timeout: LONG_MS }).toBeDefined();
  home.config("plugins:\n  enabled: []\n");
  await home.refresh(runtime);
  expect(await answer(runtime, "wait"), "it is gone for new calls").not.toBe("v1");
  home.config("plugins:\n  enabled: [p1]\n");
  writeFileSync(join(home.home, "plugins", "p1", "index.mjs"), code("v2"));
  await home.refresh(runtime);
  expect(state.log, "the first version is still needed").toEqual([]);
  state.go?.();
  expect(await running).toBe("v1");
  await expect.poll(() => state.log, { timeout: LONG_MS }).toEqual(["closed v1"]);
  expect(statusOf(runtime, "p1")).toMatchObject({ state: "ready", tools: ["wait"] });
  await runtime.close();
  expect(state.log).toEqual(["closed v1", "closed v2"]);
});

it("reloaded again and again under load, a tenth of it broken, no call is lost and each sees one version", async () => {
  const home = house();
  const code = (version: number) => `const first = ${version};
export default (ctx) => ctx.tool({
  name: "versioned", schema: {},
  handler: async () => { await new Promise((go) => setTimeout(go, first % 3)); return JSON.stringify([first, ${version}]); },
});\n`;
  const files = { "plugin.yaml": manifest("p1", "provides_tools: [versioned]"), "index.mjs": code(0) };
  const runtime = await withDev(home, files);
  const session = await runtime.openSession();
  const answers: string[] = [];
  let stop = false;
  const callers = Array.from({ length: 4 }, async () => {
    while (!stop) {
      const result = await session.call({ name: "versioned", arguments: {} });
      answers.push(result.ok ? textOf(result.content) : `lost: ${result.error?.message}`);
    }
  });
  let broken = 0;
  for (let round = 1; round <= 20; round += 1) {
    const isBroken = round % 10 === 5;
    home.plugin("p1", { "index.mjs": isBroken ? `${code(round)}throw new Error("no");\n` : code(round) });
    await home.refresh(runtime);
    expect(statusOf(runtime, "p1")).toMatchObject({
      state: isBroken ? "degraded" : "ready",
      tools: ["versioned"],
    });
    if (isBroken) broken += 1;
  }
  stop = true;
  await Promise.all(callers);
  expect(broken).toBe(2);
  expect(answers.filter((text) => !/^\[(\d+),\1\]$/.test(text))).toEqual([]);
  const versions = new Set(answers.map((text) => Number(/\d+/.exec(text)?.[0])));
  expect([...versions].filter((version) => version % 10 === 5)).toEqual([]);
  expect(versions.size).toBeGreaterThan(5);
});
