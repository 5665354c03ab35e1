import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PackageCopy, packageCopy, ROOT, toolSource } from "./package-copy.js";

// Every test starts real builds or test runs.
vi.setConfig({ testTimeout: 120_000 });

let copy: PackageCopy;

/** The real registry and loader, with a small surface of their own: independent of the rest of the product. */
beforeAll(async () => {
  copy = await packageCopy({
    "src/index.ts": `
      export { registry, withActiveRegistry } from "./registry/active.js";
      export { ToolRegistry } from "./registry/registry.js";
      export { discoverUserTools } from "./registry/discover.js";
      export { defineTool } from "./tool/define.js";
      export { tool } from "./tool/decorator.js";
      export const listed = () => import("./registry/builtin-manifest.gen.js");`,
    "src/cli/main.ts": `
      import { builtinManifest } from "./../registry/builtin-manifest.gen.js";
      import { registry } from "../registry/active.js";
      if (process.argv[2] === "same") import("../index.js").then((index) => console.log(registry === index.registry));
      else console.log(builtinManifest.map((row) => row.name).join());`,
    "src/tools/x/alpha.ts": `globalThis.console.log("alpha imported");\n${toolSource(`name: "alpha"`)}`,
    "src/tools/x/beta.ts": `globalThis.console.log("beta imported");\n${toolSource(`name: "beta"`)}`,
  });
  // The registry and what it stands on, without commands, tools and the plugins that bring some.
  const left = new Set(["cli", "tools", "plugins", "index.ts"]);
  for (const name of readdirSync(join(ROOT, "src")).filter((one) => !left.has(one))) {
    await cp(join(ROOT, "src", name), join(copy.root, "src", name), { recursive: true });
  }
  const { code, stderr } = await copy.node("scripts/build.mjs", "--no-types");
  if (code !== 0) throw new Error(stderr);
}, 60_000);

afterAll(() => copy[Symbol.asyncDispose]());

const dist = (name: string) => join(copy.root, "dist", name);

describe("the bundle", () => {
  it("has an executable command", async () => {
    expect(readFileSync(dist("cli/main.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync(dist("cli/main.js"), constants.X_OK);
  });

  it("lists tools without importing any", async () => {
    expect((await copy.node("dist/cli/main.js")).stdout).toBe("alpha,beta\n");
  });

  it("keeps each tool in a chunk of its own", () => {
    const chunks = readdirSync(dist("chunks"));
    expect(chunks.filter((name) => /^(?:alpha|beta)-/.test(name))).toHaveLength(2);
  });

  it("gives a command and the package index it hands to user tools one registry", async () => {
    expect((await copy.node("dist/cli/main.js", "same")).stdout).toBe("true\n");
  });

  it("is not built again until something changes, and then drops what is no longer used", async () => {
    expect((await copy.node("scripts/build.mjs", "--no-types")).stdout).toBe("dist is up to date\n");
    const before = readdirSync(dist("chunks"));
    await copy.write({ "src/tools/x/alpha.ts": toolSource(`name: "alpha", emoji: "A"`) });
    expect((await copy.node("scripts/build.mjs", "--no-types")).stdout).toContain(
      "builtin-manifest.gen.ts written",
    );
    const after = readdirSync(dist("chunks"));
    expect(after).not.toEqual(before);
    expect(after.filter((name) => name.startsWith("alpha-"))).toHaveLength(1);
    expect((await copy.node("dist/cli/main.js")).stdout).toBe("alpha,beta\n");
  });

  it("says what is wrong and keeps the last good build when a source does not parse", async () => {
    await copy.write({ "src/tools/x/gamma.ts": "export default {{;" });
    const { code, stderr } = await copy.node("scripts/build.mjs", "--no-types");
    expect(code).toBe(1);
    expect(stderr).toMatch(/Build failed: [\s\S]*gamma\.ts/);
    expect((await copy.node("dist/cli/main.js")).stdout).toBe("alpha,beta\n");
    await copy.write({ "src/tools/x/gamma.ts": "export const nothing = 1;" });
    expect((await copy.node("scripts/build.mjs", "--no-types")).code).toBe(0);
  });
});

describe("user tools with the bundle", () => {
  const probe = `
    import { createRequire } from "node:module";
    import { ToolRegistry, discoverUserTools, withActiveRegistry } from "./dist/index.js";
    const target = new ToolRegistry();
    const report = await discoverUserTools({
      folders: [{ path: "tools", origin: "home" }].map((f) => ({ ...f, path: process.cwd() + "/" + f.path })),
      cacheDir: process.cwd() + "/cache",
      register: () => {},
      around: (info, load) => withActiveRegistry({ registry: target, provenance: { kind: info.origin } }, load),
    });
    const parser = Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("typescript6"));
    console.log(JSON.stringify({ names: [...target.snapshot().entries.keys()], problems: report.problems, parser }));`;

  const run = async () => {
    const { stdout, stderr } = await copy.node("probe.mjs");
    expect(stderr).toBe("");
    return JSON.parse(stdout) as { names: string[]; problems: unknown[]; parser: boolean };
  };

  it("share its registry, and unchanged folders need no parser", async () => {
    const register = (name: string) =>
      `import { registry, tool } from "hermes-tools";
       import { text } from "./lib.js";
       enum Kind { One = "one" }
       class Box { @tool({ description: "d", parameters: {} }) boxed() { return Kind.One; } }
       registry.register({ name: "${name}", toolset: "mine", schema: { description: text }, handler: () => new Box().boxed() });`;
    await copy.write({
      "probe.mjs": probe,
      "tools/one.ts": register("one"),
      "tools/two.mjs": `import { registry } from "hermes-tools"; registry.register({ name: "two", toolset: "mine", schema: {}, handler: () => 2 });`,
      "tools/lib.ts": `export const text: string = "registry.register in a string";`,
    });
    expect(await run()).toEqual({ names: ["one", "two"], problems: [], parser: true });
    expect(existsSync(join(copy.root, "cache", "tool-modules.json"))).toBe(true);
    expect(await run()).toEqual({ names: ["one", "two"], problems: [], parser: false });
    await copy.write({ "tools/one.ts": register("three") });
    await utimes(join(copy.root, "tools/one.ts"), new Date(), new Date(Date.now() + 2000));
    expect(await run()).toMatchObject({ names: ["three", "two"], parser: true });
  });

  it("resolve packages installed beside them", async () => {
    await mkdir(join(copy.root, "tools", "node_modules", "left"), { recursive: true });
    await copy.write({
      "tools/node_modules/left/package.json": `{"name":"left","main":"index.js"}`,
      "tools/node_modules/left/index.js": `module.exports = { side: "left" };`,
      "tools/four.js": `import left from "left"; import { registry } from "hermes-tools";
        registry.register({ name: left.side, toolset: "mine", schema: {}, handler: () => 4 });`,
    });
    expect(await run()).toMatchObject({ names: ["left", "three", "two"], problems: [] });
  });
});
