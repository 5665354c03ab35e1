import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as active from "../../src/registry/active.js";
import { type DiscoveryOptions, discoverUserTools, toolFolders } from "../../src/registry/discover.js";
import { ToolRegistry } from "../../src/registry/registry.js";
import { BaseTool } from "../../src/tool/base-tool.js";
import { tool, toolsOf } from "../../src/tool/decorator.js";
import { defineTool } from "../../src/tool/define.js";

let root: string;
let home: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "hermes-discovery-"));
  home = join(root, "home", "tools");
  await mkdir(home, { recursive: true });
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), text);
  }
}

const publicApi = async () => ({ registry: active.registry, BaseTool, defineTool, tool, toolsOf });

function discover(options: Partial<DiscoveryOptions> = {}) {
  const modules: Record<string, Readonly<Record<string, unknown>>> = {};
  const registry = new ToolRegistry();
  const report = discoverUserTools({
    folders: [{ path: home, origin: "home" }],
    cacheDir: join(root, "cache"),
    publicApi,
    register: (module, { file }) => {
      modules[file.slice(home.length + 1)] = module;
    },
    around: (info, load) =>
      active.withActiveRegistry({ registry, provenance: { kind: info.origin, source: info.file } }, load),
    ...options,
  });
  return report.then((result) => ({ ...result, modules, registry }));
}

const REGISTER = (name: string) =>
  `import { registry } from "hermes-tools";
   registry.register({ name: "${name}", toolset: "mine", schema: { description: "d" }, handler: () => "${name}" });`;

describe("discovery of user tools", () => {
  it("registers from .ts, .js and .mjs into the registry of the caller", async () => {
    await write({
      "b.ts": `const shout: string = "x"; void shout; ${REGISTER("from_ts")}`,
      "a.js": REGISTER("from_js"),
      "c.mjs": REGISTER("from_mjs"),
    });
    const { loaded, problems, registry } = await discover();
    expect(problems).toEqual([]);
    expect(loaded.map(({ file }) => file)).toEqual(["a.js", "b.ts", "c.mjs"].map((name) => join(home, name)));
    expect([...registry.snapshot().entries.keys()]).toEqual(["from_js", "from_mjs", "from_ts"]);
    expect(registry.get("from_ts")?.provenance).toEqual({ kind: "home", source: join(home, "b.ts") });
    expect(active.defaultRegistry.get("from_ts")).toBeUndefined();
  });

  it("hands over exported tools, classes of the running package among them", async () => {
    await write({
      "base.ts": `import { BaseTool, type CallContext } from "hermes-tools";
        export default class Counter extends BaseTool {
          readonly name = "counter"; readonly description = "d"; readonly parameters = { type: "object" };
          run(_args: unknown, _ctx?: CallContext) { return 1; }
        }`,
      "define.ts": `import { defineTool } from "hermes-tools";
        export const greet = defineTool({ name: "greet", description: "d", parameters: { type: "object" }, handler: () => "hi" });`,
    });
    const { modules, problems } = await discover();
    expect(problems).toEqual([]);
    expect(Object.getPrototypeOf(modules["base.ts"]?.default)).toBe(BaseTool);
    expect(modules["define.ts"]?.greet).toMatchObject({ name: "greet", toolset: "custom" });
  });

  it("runs TypeScript that needs more than removing types: decorators, enums, parameter properties", async () => {
    await write({
      "weather.ts": `import { tool } from "hermes-tools";
        import { unitName } from "./lib/units.js";
        import { round } from "./lib/round";
        enum Unit { Celsius = "C", Kelvin = "K" }
        export class Weather {
          constructor(private readonly unit: Unit = Unit.Kelvin) {}
          @tool({ description: "d", parameters: { type: "object" } })
          weather_query() { return round(21.7) + " " + unitName(this.unit); }
        }`,
      "lib/units.ts": `export const unitName = (unit: string): string => "degrees " + unit;`,
      "lib/round.ts": "export const round = (value: number): number => Math.round(value);",
    });
    const { modules, problems } = await discover();
    expect(problems).toEqual([]);
    const Weather = modules["weather.ts"]?.Weather as new () => object;
    const [value] = toolsOf(new Weather());
    expect(value?.name).toBe("weather_query");
    expect(value?.handler({}, {} as never)).toBe("22 degrees K");
  });

  it("does not import helper modules, tests, declarations, dotfiles and deeper folders", async () => {
    const mark = join(root, "imported");
    const trap = (name: string) =>
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(mark)}, "${name}\\n");`;
    await write({
      "helper.ts": `${trap("helper")} export const setup = (registry) => { registry.register({}); };`,
      "a.test.ts": trap("test") + REGISTER("x"),
      "a.spec.mjs": trap("spec") + REGISTER("x"),
      "types.d.ts": "export const a: number;",
      ".hidden.js": trap("hidden") + REGISTER("x"),
      "node_modules/tool.js": trap("node_modules") + REGISTER("x"),
      "pack/other.js": trap("other") + REGISTER("x"),
      "pack/deep/tool.js": trap("deep") + REGISTER("x"),
      "readme.md": "registry.register({})",
      "pack/tool.ts": trap("pack") + REGISTER("packed"),
      "pack/tool.js": trap("second entry") + REGISTER("x"),
    });
    const { helpers, loaded, problems } = await discover();
    expect(problems).toEqual([]);
    expect(helpers).toEqual([join(home, "helper.ts")]);
    expect(loaded.map(({ file }) => file)).toEqual([join(home, "pack", "tool.ts")]);
    expect(await readFile(mark, "utf8")).toBe("pack\n");
  });

  it("reports modules that throw, do not parse, hang or lack a package, and loads the others", async () => {
    await write({
      "a-throws.ts": `import { registry } from "hermes-tools";\ninterface Gone { a: string }\n\ntype Also = Gone;\nthrow new TypeError("no key");\n${REGISTER("x").split("\n")[1]}`,
      "b-throws-text.js": `throw "just text"; ${REGISTER("x")}`,
      "c-syntax.ts": "\nregistry.register({{);",
      "d-syntax.js": `${REGISTER("x")}\nconst typed: string = 1;`,
      "e-hangs.mjs": `${REGISTER("hung")}\nawait new Promise(() => setInterval(() => {}, 1e6).unref());`,
      "f-missing.ts": `import pad from "no-such-package-here"; pad(); ${REGISTER("x")}`,
      "g-helper-throws.ts": `import "./lib/bad.js"; ${REGISTER("x")}`,
      "lib/bad.ts": `\ntype A = 1;\nthrow new Error("helper broke");`,
      "z-fine.ts": REGISTER("fine"),
    });
    await symlink(join(root, "nowhere.js"), join(home, "y-dangling.js"));
    const { problems, loaded, registry } = await discover({ deadlineMs: 1500 });
    const told = Object.fromEntries(problems.map(({ file, ...rest }) => [file.slice(home.length + 1), rest]));
    expect(told).toMatchObject({
      "a-throws.ts": { stage: "import", message: "TypeError: no key", line: 5, origin: "home" },
      "b-throws-text.js": { stage: "import", message: expect.stringContaining("just text") },
      "c-syntax.ts": { stage: "parse", message: expect.stringContaining("SyntaxError"), line: 2 },
      "d-syntax.js": { stage: "import", message: expect.stringContaining("SyntaxError") },
      "e-hangs.mjs": { stage: "import", message: expect.stringContaining("did not finish within 1.5 s") },
      "f-missing.ts": {
        stage: "import",
        message: expect.stringMatching(/npm install .*no-such-package-here$/),
      },
      "g-helper-throws.ts": { message: expect.stringMatching(/helper broke \(in .*lib.bad\.ts:3\)$/) },
      "y-dangling.js": { stage: "read" },
    });
    expect(Object.keys(told)).toHaveLength(8);
    expect(loaded.map(({ file }) => file)).toEqual([join(home, "z-fine.ts")]);
    expect(registry.get("fine")).toBeDefined();
  });

  it("reports a module whose exports cannot be registered", async () => {
    await write({ "a.js": REGISTER("a"), "b.js": REGISTER("b") });
    const { problems, loaded } = await discover({
      register: (_module, { file }) => {
        if (file.endsWith("a.js")) throw new TypeError("schema is an array");
      },
    });
    expect(problems).toMatchObject([{ file: join(home, "a.js"), stage: "register" }]);
    expect(problems[0]?.message).toContain("schema is an array");
    expect(loaded).toHaveLength(1);
  });

  it("loads a changed file and a changed helper anew, and runs an unchanged one again", async () => {
    const value = async (run: ReturnType<typeof discover>) => (await run).modules["a.ts"]?.value;
    const source = (own: string) =>
      `import { shared } from "./lib/shared.js"; export const value = "${own} " + shared; ${REGISTER("a")}`;
    await write({ "a.ts": source("one"), "lib/shared.ts": `export const shared = "s1";` });
    expect(await value(discover())).toBe("one s1");
    const again = await discover();
    expect(again.registry.get("a")).toBeDefined();
    await write({ "a.ts": source("two") });
    expect(await value(discover())).toBe("two s1");
    await write({ "lib/shared.ts": `export const shared = "s2";` });
    await utimes(join(home, "lib/shared.ts"), new Date(), new Date(Date.now() + 5000));
    expect(await value(discover())).toBe("two s2");
  });

  it("shares one helper between tools while it is unchanged", async () => {
    await write({
      "a.ts": `import { state } from "./lib/state.js"; state.count += 1; export { state }; ${REGISTER("a")}`,
      "b.js": `import { state } from "./lib/state.js"; state.count += 1; export { state }; ${REGISTER("b")}`,
      "lib/state.ts": "export const state = { count: 0 };",
    });
    const { modules } = await discover();
    expect(modules["a.ts"]?.state).toBe(modules["b.js"]?.state);
    expect(modules["a.ts"]?.state).toEqual({ count: 2 });
  });

  it("survives a damaged verdict file", async () => {
    await write({ "a.js": REGISTER("a") });
    await discover();
    const kept = join(root, "cache", "tool-modules.json");
    const before = await readFile(kept, "utf8");
    for (const damage of ["", "{", "[]", `{"rules":1,"modules":{"${home}/a.js":{"version":1}}}`]) {
      await writeFile(kept, damage);
      expect((await discover()).loaded).toHaveLength(1);
      expect(await readFile(kept, "utf8")).toBe(before);
    }
  });

  it("works when the cache folder cannot be made", async () => {
    await write({ "a.ts": REGISTER("a") });
    await writeFile(join(root, "file"), "");
    const { loaded, problems } = await discover({ cacheDir: join(root, "file", "cache") });
    expect(problems).toEqual([]);
    expect(loaded).toHaveLength(1);
  });

  it("is silent about folders that do not exist", async () => {
    const { loaded, helpers, problems } = await discover({
      folders: [{ path: join(root, "none"), origin: "project" }],
    });
    expect({ loaded, helpers, problems }).toEqual({ loaded: [], helpers: [], problems: [] });
  });

  it("counts a project's folder only when the project is trusted", () => {
    const project = { root: "/repo", trusted: false };
    expect(toolFolders({ home: "/h", project })).toEqual([{ path: join("/h", "tools"), origin: "home" }]);
    expect(toolFolders({ home: "/h", project: { ...project, trusted: true } }).at(-1)).toEqual({
      path: join("/repo", ".hermes", "tools"),
      origin: "project",
    });
  });
});
