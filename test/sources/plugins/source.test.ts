import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trustFolder } from "../../../src/config/trust.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { textOf } from "../../../src/tool/content.js";
import { type House, house, manifest, statusOf } from "./support.js";

/** A plugin with one tool that answers with `text`. */
function says(tool: string, text: string): string {
  return `export default (ctx) => ctx.tool({
    name: "${tool}",
    schema: { description: "Says something" },
    handler: () => ${JSON.stringify(text)},
  });\n`;
}

async function greeter(
  home: House,
  options: { dev?: boolean } = {},
): Promise<{ folder: string; runtime: Runtime }> {
  const folder = home.plugin("greeter", {
    "plugin.yaml": manifest("greeter", "provides_tools: [greet]"),
    "index.mjs": says("greet", "Hello!"),
  });
  home.config("plugins:\n  enabled: [greeter]\n");
  await home.confirm("greeter", options);
  return { folder, runtime: await home.open() };
}

async function answer(runtime: Runtime, name: string, args = {}): Promise<string> {
  const session = await runtime.openSession();
  const result = await session.call({ name, arguments: args });
  session.close();
  return result.error?.message ?? textOf(result.content);
}

describe("a plugin folder", () => {
  it("brings its tool in a toolset of its own, TypeScript and the package's exports included", async () => {
    const home = house();
    home.plugin("greeter", {
      "plugin.yaml": manifest("greeter", "provides_tools: [greet]"),
      "index.ts": `import { defineTool, definePlugin } from "hermes-tools";
import { hello } from "./words.js";
export default definePlugin((ctx) => {
  ctx.tool(defineTool({
    name: "greet",
    description: "Greet somebody",
    parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
    handler: ({ who }: { who: string }) => hello(who),
  }));
});\n`,
      "words.ts": 'export const hello = (who: string): string => ["Hello, ", who, "!"].join("");\n',
    });
    home.config("plugins:\n  enabled: [greeter]\n");
    await home.confirm("greeter");
    const runtime = await home.open();
    expect(statusOf(runtime, "greeter")).toEqual({
      source: "plugin:greeter",
      state: "ready",
      tools: ["greet"],
      quarantined: [],
    });
    expect(runtime.registry.get("greet")).toMatchObject({
      toolset: "plugin-greeter",
      provenance: { kind: "plugin", source: join(home.home, "plugins", "greeter") },
    });
    expect(await answer(runtime, "greet", { who: "Ada" })).toBe("Hello, Ada!");
  });

  it("does not run when it is not enabled, when nobody has confirmed it, or when it is disabled", async () => {
    const home = house();
    const files = {
      "plugin.yaml": manifest("p1", "provides_tools: [greet]"),
      "index.mjs": says("greet", "1"),
    };
    home.plugin("p1", files);
    await home.confirm("p1");
    let runtime = await home.open();
    expect(runtime.registry.get("greet")).toBeUndefined();
    home.config("plugins:\n  enabled: [p1]\n  disabled: [p1]\n");
    runtime = await home.open();
    expect(statusOf(runtime, "p1")).toMatchObject({ state: "disabled", reason: "plugins.disabled names it" });
    expect(runtime.registry.get("greet")).toBeUndefined();
    home.plugin("p2", { ...files, "plugin.yaml": manifest("p2", "provides_tools: [greet]") });
    home.config("plugins:\n  enabled: [p2, p3]\n");
    runtime = await home.open();
    expect(statusOf(runtime, "p2")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("nobody has confirmed"),
      fix: expect.stringContaining("hermes plugins enable p2"),
    });
    expect(statusOf(runtime, "p3")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("did you mean"),
    });
  });

  it("is left out when the project it lies in is not trusted", async () => {
    const home = house();
    mkdirSync(join(home.cwd, ".hermes"));
    const place = join(home.cwd, ".hermes", "plugins");
    home.plugin(
      "p1",
      { "plugin.yaml": manifest("p1", "provides_tools: [greet]"), "index.mjs": says("greet", "1") },
      place,
    );
    home.config("plugins:\n  enabled: [p1]\n");
    expect(statusOf(await home.open(), "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("no plugin"),
    });
    await trustFolder({ home: home.home, folder: home.cwd });
    await home.confirm("p1");
    expect(statusOf(await home.open(), "p1")).toMatchObject({ state: "ready", tools: ["greet"] });
  });

  it("of a name that is there twice runs in neither place", async () => {
    const home = house();
    const files = {
      "plugin.yaml": manifest("p1", "provides_tools: [greet]"),
      "index.mjs": says("greet", "1"),
    };
    const first = home.plugin("p1", files);
    await home.confirm("p1");
    mkdirSync(join(home.cwd, ".hermes"));
    const second = home.plugin("p1", files, join(home.cwd, ".hermes", "plugins"));
    await trustFolder({ home: home.home, folder: home.cwd });
    home.config("plugins:\n  enabled: [p1]\n");
    const status = statusOf(await home.open(), "p1");
    expect(status).toMatchObject({ state: "failed", tools: [] });
    expect(status?.reason).toContain(first);
    expect(status?.reason).toContain(second);
  });

  it("gets the variables and settings it asked for, and no others", async () => {
    const home = house();
    home.plugin("p1", {
      "plugin.yaml": manifest("p1", "provides_tools: [tell]", "requires_env: [P1_KEY]"),
      "index.mjs": `export function register(ctx) {
  ctx.tool({ name: "tell", schema: {}, handler: () => ({ env: ctx.env, config: ctx.config, name: ctx.name }) });
}\n`,
    });
    await home.confirm("p1");
    home.config(
      "plugins:\n  enabled: [p1]\ntool_settings:\n  p1: { units: metric }\n  other: { secret: 1 }\n",
    );
    expect(statusOf(await home.open(), "p1")).toMatchObject({
      state: "failed",
      reason: "P1_KEY is not set",
      fix: "hermes config set P1_KEY VALUE",
    });
    const runtime = await home.open({ env: { HOME: home.home, P1_KEY: "k1", OTHER_KEY: "k2" } });
    expect(JSON.parse(await answer(runtime, "tell"))).toEqual({
      env: { P1_KEY: "k1" },
      config: { units: "metric" },
      name: "p1",
    });
  });
});

describe("changed files", () => {
  it("are not run until they are confirmed again", async () => {
    const home = house();
    const { folder, runtime } = await greeter(home);
    writeFileSync(join(folder, "extra.txt"), "");
    await home.refresh(runtime);
    expect(statusOf(runtime, "greeter")).toMatchObject({
      state: "failed",
      tools: [],
      reason: expect.stringContaining("its files have changed"),
      fix: expect.stringContaining("hermes plugins enable greeter"),
    });
    expect(runtime.registry.get("greet")).toBeUndefined();
    writeFileSync(join(folder, "index.mjs"), says("greet", "Howdy!"));
    await home.confirm("greeter");
    await home.refresh(runtime);
    expect(await answer(runtime, "greet")).toBe("Howdy!");
  });

  it("of a folder in dev mode are taken up, and a broken version leaves the old one in force", async () => {
    const home = house();
    const { folder, runtime } = await greeter(home, { dev: true });
    writeFileSync(
      join(folder, "index.mjs"),
      `import { text } from "./text.mjs";\n${says("greet", "x").replace('"x"', "text")}`,
    );
    writeFileSync(join(folder, "text.mjs"), 'export const text = "one";\n');
    await home.refresh(runtime);
    expect(await answer(runtime, "greet")).toBe("one");
    writeFileSync(join(folder, "text.mjs"), 'export const text = "two";\n');
    await home.refresh(runtime);
    expect(await answer(runtime, "greet")).toBe("two");
    for (const broken of ["export const text = ;", "throw new Error('no')"]) {
      writeFileSync(join(folder, "text.mjs"), broken);
      await home.refresh(runtime);
      expect(statusOf(runtime, "greeter")).toMatchObject({ state: "degraded", tools: ["greet"] });
      expect(await answer(runtime, "greet")).toBe("two");
    }
    writeFileSync(join(folder, "plugin.yaml"), "name: [\n");
    await home.refresh(runtime);
    expect(statusOf(runtime, "greeter")).toMatchObject({
      state: "degraded",
      reason: expect.stringContaining("plugin.yaml:"),
    });
    writeFileSync(join(folder, "plugin.yaml"), manifest("greeter", "provides_tools: [greet]"));
    writeFileSync(join(folder, "text.mjs"), 'export const text = "two";\n');
    const before = runtime.registry.get("greet");
    await home.refresh(runtime);
    expect(statusOf(runtime, "greeter")).toMatchObject({ state: "ready" });
    expect(runtime.registry.get("greet"), "what is in force is not loaded again").toBe(before);
    rmSync(folder, { recursive: true });
    await home.refresh(runtime);
    expect(statusOf(runtime, "greeter")).toMatchObject({ state: "failed", tools: [] });
  });

  it("that come while the plugin is being loaded are not lost", async () => {
    const home = house();
    const { folder, runtime } = await greeter(home, { dev: true });
    const slow = `await new Promise((go) => setTimeout(go, 50));\n${says("greet", "slow")}`;
    writeFileSync(join(folder, "index.mjs"), slow);
    await Promise.all([home.refresh(runtime), home.refresh(runtime)]);
    await runtime.sources.settled();
    expect(statusOf(runtime, "greeter")).toMatchObject({ state: "ready" });
    expect(await answer(runtime, "greet")).toBe("slow");
  });

  it("that say the same leave everything alone", async () => {
    const home = house();
    const { runtime } = await greeter(home);
    const before = runtime.registry.get("greet");
    await home.refresh(runtime);
    expect(runtime.registry.get("greet")).toBe(before);
  });
});

describe("going away", () => {
  const WAITS = `export default (ctx) => {
  const state = (globalThis.hermesPluginTest ??= { log: [] });
  ctx.onClose(() => state.log.push("closed VERSION"));
  ctx.tool({
    name: "wait",
    schema: {},
    handler: async () => { await new Promise((go) => { state.go = go; state.log.push("began VERSION"); }); return "VERSION"; },
  });
};\n`;
  interface TestState {
    log: string[];
    go?: () => void;
  }
  const state = () => (globalThis as { hermesPluginTest?: TestState }).hermesPluginTest;
  // On a busy machine even a small step takes more than the second that is usual.
  const PATIENT = { timeout: 15_000 };

  it("lets running calls end in the version they began with, and closes after the last one", async () => {
    const home = house();
    const folder = home.plugin("p1", {
      "plugin.yaml": manifest("p1", "provides_tools: [wait]"),
      "index.mjs": WAITS.replaceAll("VERSION", "v1"),
    });
    home.config("plugins:\n  enabled: [p1]\n");
    await home.confirm("p1", { dev: true });
    const runtime = await home.open();
    const running = answer(runtime, "wait");
    await expect.poll(() => state()?.go, PATIENT).toBeDefined();
    writeFileSync(join(folder, "index.mjs"), WAITS.replaceAll("VERSION", "v2"));
    await home.refresh(runtime);
    expect(state()?.log).toEqual(["began v1"]);
    state()?.go?.();
    expect(await running).toBe("v1");
    await expect.poll(() => state()?.log, PATIENT).toEqual(["began v1", "closed v1"]);
    home.config("plugins:\n  enabled: []\n");
    await home.refresh(runtime);
    expect(runtime.registry.get("wait")).toBeUndefined();
    expect(runtime.sources.status().filter(({ source }) => source.startsWith("plugin:"))).toEqual([]);
    await expect.poll(() => state()?.log, PATIENT).toEqual(["began v1", "closed v1", "closed v2"]);
  });
});
