import { describe, expect, it } from "vitest";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { type House, house, manifest, statusOf } from "./support.js";

const TOOL = (name: string) => `ctx.tool({ name: "${name}", schema: {}, handler: () => "${name}" });`;
const GOOD = {
  "plugin.yaml": manifest("good", "provides_tools: [fine]"),
  "index.mjs": `export default (ctx) => { ${TOOL("fine")} };`,
};

/** Only what is meant to hang is given little time: a busy machine is slow without hanging. */
function timeLimit(code: string): readonly string[] {
  return code.includes("new Promise(() => {})") ? ["timeout: 0.3"] : [];
}

async function beside(
  bad: string,
  options: { lines?: readonly string[]; home?: House; config?: string } = {},
): Promise<Runtime> {
  const home = options.home ?? house();
  home.plugin("good", GOOD);
  const lines = options.lines ?? ["provides_tools: [half]", "provides_hooks: [pre_tool_call]"];
  home.plugin("bad", { "plugin.yaml": manifest("bad", ...lines), "index.mjs": bad });
  home.config(`plugins:\n  enabled: [bad, good]\n${options.config ?? ""}`);
  await home.confirm("good");
  await home.confirm("bad");
  return home.open();
}

async function call(runtime: Runtime, name: string) {
  const session = await runtime.openSession();
  return session.call({ name, arguments: {} });
}

describe("a plugin that cannot be loaded brings nothing, is named, and leaves the others alone:", () => {
  const BAD: readonly (readonly [what: string, code: string, reason: string])[] = [
    ["throws at its top level", "throw new TypeError('top');", "TypeError: top"],
    ["does not parse", "export default (ctx) => {", "SyntaxError"],
    [
      "imports what is not there",
      'import "not-installed-anywhere"; export default () => {};',
      "Cannot find package",
    ],
    ["exports no register", "export const x = 1;", "exports no register function"],
    [
      "throws half-way",
      `export default (ctx) => { ${TOOL("half")} throw new Error("half-way"); };`,
      "index.mjs:1: Error: half-way",
    ],
    [
      "rejects half-way",
      `export default async (ctx) => { ${TOOL("half")} await 0; throw new Error("later"); };`,
      "Error: later",
    ],
    ["throws no error at all", "export default () => { throw null; };", "threw null"],
    [
      "never ends register",
      `export default (ctx) => { ${TOOL("half")} return new Promise(() => {}); };`,
      "did not finish within 0.3 s",
    ],
    [
      "never ends its top level",
      "await new Promise(() => {}); export default () => {};",
      "did not finish within 0.3 s",
    ],
    [
      "brings an undeclared tool",
      `export default (ctx) => { ${TOOL("half")} ${TOOL("hidden")} };`,
      "hidden is not in provides_tools of the manifest",
    ],
    [
      "hides that it was refused",
      `export default (ctx) => { ${TOOL("half")} try { ${TOOL("hidden")} } catch {} };`,
      "hidden is not in provides_tools",
    ],
    [
      "brings an undeclared hook",
      `export default (ctx) => { ctx.hook("post_tool_call", () => {}); };`,
      "post_tool_call is not in provides_hooks",
    ],
    [
      "asks for an undeclared permission",
      `export default (ctx) => ctx.tool({ name: "half", schema: {}, permissions: ["file:write"], handler: () => 1 });`,
      "asks for file:write, which capabilities",
    ],
    [
      "takes a built-in toolset",
      `export default (ctx) => ctx.tool({ name: "half", toolset: "file", schema: {}, handler: () => 1 });`,
      "the toolset file is a built-in one",
    ],
    [
      "takes the toolset of a server",
      `export default (ctx) => ctx.tool({ name: "half", toolset: "mcp-github", schema: {}, handler: () => 1 });`,
      "the toolset mcp-github has the name of another source",
    ],
    [
      "goes past ctx",
      `import { registry } from "hermes-tools"; registry.register({ name: "half", toolset: "x", schema: {}, handler: () => 1 }); export default () => {};`,
      "brings its tools with ctx.tool",
    ],
    [
      "brings a tool that is none",
      "export default (ctx) => ctx.tool({ name: 'half' });",
      "ctx.tool takes what defineTool returns",
    ],
  ];

  it(BAD.map(([what]) => what).join("; "), async () => {
    const home = house();
    home.plugin("good", GOOD);
    await home.confirm("good");
    for (const [index, [, code]] of BAD.entries()) {
      const lines = ["provides_tools: [half]", "provides_hooks: [pre_tool_call]", ...timeLimit(code)];
      home.plugin(`bad${index}`, { "plugin.yaml": manifest(`bad${index}`, ...lines), "index.mjs": code });
      await home.confirm(`bad${index}`);
    }
    home.config(`plugins:\n  enabled: [${BAD.map((_, index) => `bad${index}`).join(", ")}, good]\n`);
    const runtime = await home.open();
    for (const [index, [what, , reason]] of BAD.entries()) {
      expect.soft(statusOf(runtime, `bad${index}`), what).toMatchObject({
        state: "failed",
        tools: [],
        reason: expect.stringContaining(reason),
      });
    }
    expect(runtime.registry.get("half")).toBeUndefined();
    expect(runtime.hooks.has("pre_tool_call")).toBe(false);
    expect(statusOf(runtime, "good")).toMatchObject({ state: "ready", tools: ["fine"] });
    expect(await call(runtime, "fine")).toMatchObject({ ok: true });
  });

  it("and what register had opened before it failed is closed", async () => {
    await beside(
      "export default (ctx) => { ctx.onClose(() => { globalThis.hermesClosed = true; }); throw new Error('x'); };",
    );
    expect((globalThis as { hermesClosed?: boolean }).hermesClosed).toBe(true);
  });

  it("registering after register has returned is refused", async () => {
    const home = house();
    const runtime = await beside(
      `export default (ctx) => { setTimeout(() => { try { ${TOOL("half")} } catch (e) { ctx.log.warn(e.message); } }, 5); };`,
      { home },
    );
    const lines = () => home.log.map(({ line }) => line).join("\n");
    await expect.poll(lines, { timeout: 15_000 }).toContain("register everything before it returns");
    expect(runtime.registry.get("half")).toBeUndefined();
  });
});

it("a hook that does not answer blocks the call, even when it fails open, and is named", async () => {
  const home = house();
  const runtime = await beside(
    `export default (ctx) => ctx.hook("pre_tool_call", () => new Promise(() => {}));`,
    {
      home,
      config: "hooks:\n  timeout_seconds: 0.2\n",
    },
  );
  expect(await call(runtime, "fine")).toMatchObject({
    ok: false,
    error: {
      code: "blocked",
      message: expect.stringContaining("hook bad/pre_tool_call did not answer within 0.2 s"),
    },
  });
});

describe("a hook that fails", () => {
  const hook = (onFailure: string) =>
    `export default (ctx) => ctx.hook("pre_tool_call", () => { throw new Error("broken hook"); }, { onFailure: "${onFailure}" });`;

  it("is skipped when it fails open", async () => {
    expect(await call(await beside(hook("open")), "fine")).toMatchObject({ ok: true });
  });

  it("blocks when it fails closed, and names itself", async () => {
    expect(await call(await beside(hook("closed")), "fine")).toMatchObject({
      ok: false,
      error: { code: "blocked", message: expect.stringContaining("bad/pre_tool_call failed: broken hook") },
    });
  });

  it("blocks when the manifest says closed, whatever the code says", async () => {
    const lines = ["provides_hooks: [{ name: pre_tool_call, on_failure: closed }]"];
    expect(await call(await beside(hook("open"), { lines }), "fine")).toMatchObject({
      ok: false,
      error: { code: "blocked" },
    });
  });

  it("a plugin that guards calls blocks them all while it cannot be loaded, and only as long as it is enabled", async () => {
    const home = house();
    const lines = ["provides_hooks: [{ name: pre_tool_call, on_failure: closed }]"];
    const runtime = await beside("throw new Error('no guard');", { lines, home });
    expect(await call(runtime, "fine")).toMatchObject({
      ok: false,
      error: { code: "blocked", message: expect.stringMatching(/plugin bad guards every call.*no guard/) },
    });
    home.plugin("bad", { "plugin.yaml": manifest("bad"), "index.mjs": "export default () => {};" });
    await home.refresh(runtime);
    expect(await call(runtime, "fine"), "a changed manifest must not take the guard away").toMatchObject({
      ok: false,
    });
    home.config("plugins:\n  enabled: [good]\n");
    await home.refresh(runtime);
    expect(await call(runtime, "fine")).toMatchObject({ ok: true });
  });

  it("is removed with its plugin", async () => {
    const home = house();
    const runtime = await beside(hook("closed"), { home });
    home.config("plugins:\n  enabled: [good]\n");
    await home.refresh(runtime);
    expect(runtime.hooks.has("pre_tool_call")).toBe(false);
  });
});

it("code that holds the event loop is named", async () => {
  const home = house();
  const hold = "const until = performance.now() + 1050; while (performance.now() < until);";
  const runtime = await beside(`export default (ctx) => ctx.hook("pre_tool_call", () => { ${hold} });`, {
    home,
  });
  await call(runtime, "fine");
  expect(statusOf(runtime, "bad")).toMatchObject({
    state: "degraded",
    reason: expect.stringMatching(/hook pre_tool_call blocked the event loop for \d+ ms/),
  });
  expect(home.log.map(({ line }) => line)).toContainEqual(
    expect.stringMatching(/plugin bad: hook pre_tool_call blocked/),
  );
});

it.each([
  ["a timer", "setTimeout(hold, 20)"],
  ["what goes on after an await", "void Promise.resolve().then(() => setImmediate(hold))"],
])("%s that holds the event loop is named with its place, and nobody else", async (_what, begin) => {
  const home = house();
  const runtime = await beside(
    `const hold = () => {
  const until = performance.now() + 1500;
  while (performance.now() < until);
};
export default () => { ${begin}; };`,
    { home },
  );
  await expect
    .poll(() => statusOf(runtime, "bad"), { timeout: 10_000 })
    .toMatchObject({
      state: "degraded",
      reason: expect.stringMatching(/^index\.mjs:\d blocked the event loop for \d+ ms/),
    });
  const named = home.log.filter(({ line }) => line.includes("blocked the event loop"));
  expect(named.every(({ line }) => line.includes("plugin bad:"))).toBe(true);
  expect(statusOf(runtime, "good")).toMatchObject({ state: "ready" });
});

it("a tool whose name an earlier plugin has is left out; with override it takes the place and gives it back", async () => {
  const home = house();
  const code = (options: string) => `export default (ctx) => {
    ctx.tool({ name: "fine", schema: {}, handler: () => "mine" }, ${options});
    ${TOOL("half")}
  };`;
  const lines = ["provides_tools: [half, fine]"];
  home.plugin("good", GOOD);
  home.plugin("bad", { "plugin.yaml": manifest("bad", ...lines), "index.mjs": code("{}") });
  home.config("plugins:\n  enabled: [good, bad]\n");
  await home.confirm("good");
  await home.confirm("bad", { dev: true });
  const runtime = await home.open();
  expect(statusOf(runtime, "bad")).toMatchObject({
    state: "degraded",
    quarantined: [{ name: "fine", reason: expect.stringContaining("already owns that name") }],
  });
  home.plugin("bad", { "index.mjs": code("{ override: true }") });
  await home.refresh(runtime);
  expect(runtime.registry.get("fine")?.toolset).toBe("plugin-bad");
  home.config("plugins:\n  enabled: [good]\n");
  await home.refresh(runtime);
  expect(runtime.registry.get("half")).toBeUndefined();
  expect(runtime.registry.get("fine")?.toolset).toBe("plugin-good");
});
