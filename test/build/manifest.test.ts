import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import { type PackageCopy, packageCopy, ROOT, toolSource } from "./package-copy.js";

// Every test starts real builds.
vi.setConfig({ testTimeout: 120_000 });

const MANIFEST = "src/registry/builtin-manifest.gen.ts";
const committed = readFileSync(join(ROOT, MANIFEST), "utf8");

describe("the manifest of built-in tools", () => {
  it("is what the tool files say today", () => {
    const today = execFileSync(process.execPath, ["scripts/manifest.mjs", "--print"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    expect(committed).toBe(today);
  });

  it("imports no tool module until one is asked for", () => {
    const imports = [...committed.matchAll(/^import\s.*$/gm)].map(([line]) => line);
    expect(imports).toEqual(['import type { BuiltinEntry } from "./manifest-types.js";']);
    const dynamic = [...committed.matchAll(/import\(("[^"]*")\)/g)].map(([, path]) => path);
    expect(dynamic).toHaveLength(builtinManifest.length);
    for (const path of dynamic) expect(path).toMatch(/^"\.\.\/(?:tools|plugins)\/[\w/-]+\.js"$/);
  });

  it("agrees with every module it names", async () => {
    expect(builtinManifest.length).toBeGreaterThan(0);
    for (const row of builtinManifest) {
      const { default: tool } = await row.load();
      expect(tool).toMatchObject({
        name: row.name,
        toolset: row.toolset,
        description: row.description,
        parameters: row.parameters,
        permissions: row.permissions,
      });
      expect(row.hasCheck).toBe(tool.checkFn !== undefined);
      expect(row.hasEffects).toBe(tool.effects !== undefined);
      expect(row.hasDynamicSchema).toBe(tool.dynamicSchemaOverrides !== undefined);
      expect(row.maxResultSizeChars).toBe(tool.maxResultSizeChars);
    }
  });
});

describe("writing the manifest", () => {
  let copy: PackageCopy | undefined;
  afterEach(() => copy?.[Symbol.asyncDispose]());

  const manifest = () => readFileSync(join(copy?.root ?? "", MANIFEST), "utf8");

  it("takes every file with a default tool, sorted by name, and passes over neighbours", async () => {
    copy = await packageCopy({
      "src/tools/z/first.ts": toolSource(`name: "b_tool", maxResultSizeChars: Infinity, timeoutMs: 5`),
      "src/tools/a/second.ts": toolSource(
        `name: "a_tool", timeoutMs: () => 5, checkFn: () => true, aliasArguments: { y: (a) => a, x: (a) => a }`,
      ),
      "src/tools/a/lines.ts": `throw new Error("a neighbour is not imported"); export const lines = 1;`,
      "src/tools/a/second.test.ts": toolSource(`name: "test_tool"`),
    });
    expect(await copy.node("scripts/manifest.mjs")).toMatchObject({ code: 0, stdout: "manifest written\n" });
    const text = manifest();
    expect([...text.matchAll(/name: "(\w+)"/g)].map(([, name]) => name)).toEqual(["a_tool", "b_tool"]);
    expect(text).toContain("maxResultSizeChars: Number.POSITIVE_INFINITY");
    expect(text.match(/timeoutMs/g)).toHaveLength(1);
    expect(text).toContain(`aliasArguments: ["x", "y"]`);
    expect(text).toContain(`load: () => import("../tools/z/first.js")`);
  });

  it("does not touch a file that is already right, and notices one that is not", async () => {
    copy = await packageCopy({ "src/tools/a.ts": toolSource(`name: "a"`) });
    await copy.node("scripts/manifest.mjs");
    const { mtimeMs } = statSync(join(copy.root, MANIFEST));
    expect((await copy.node("scripts/manifest.mjs")).stdout).toBe("manifest unchanged\n");
    expect(statSync(join(copy.root, MANIFEST)).mtimeMs).toBe(mtimeMs);
    expect((await copy.node("scripts/manifest.mjs", "--check")).code).toBe(0);
    await copy.write({ "src/tools/b.ts": toolSource(`name: "b"`) });
    const check = await copy.node("scripts/manifest.mjs", "--check");
    expect(check).toMatchObject({ code: 1, stderr: expect.stringContaining("npm run build") });
  });

  it("survives a manifest that names a file which is gone", async () => {
    copy = await packageCopy({
      "src/tools/a.ts": `import { builtinManifest } from "../registry/builtin-manifest.gen.js"; export const n = () => builtinManifest;\n${toolSource(`name: "a"`)}`,
      [MANIFEST]: `export const builtinManifest = [{ load: () => import("../tools/gone.js") }];`,
    });
    expect((await copy.node("scripts/manifest.mjs")).code).toBe(0);
    expect(manifest()).not.toContain("gone");
  });

  it("an environment is one folder: its row and its settings are written from its descriptor", async () => {
    const descriptor = (kind: string) => `export default {
      kind: ${JSON.stringify(kind)}, about: "a far place",
      settings: { own: [{ path: "terminal.moon_crater", type: { kind: "string" }, default: "", project: "never", about: "Where" }], shared: ["terminal.cwd"] },
      check: () => undefined, open: () => { throw new Error("not opened here"); },
    };`;
    copy = await packageCopy({
      "src/env/moon/index.ts": descriptor("moon"),
      "src/env/local/index.ts": descriptor("local").replace(/own: .*\], s/, "own: [], s"),
      "src/env/remote/there.ts": "export const there = 1;",
    });
    expect((await copy.node("scripts/manifest.mjs")).code).toBe(0);
    const read = (name: string) => readFileSync(join(copy?.root ?? "", name), "utf8");
    const rows = read("src/env/environments.gen.ts");
    expect([...rows.matchAll(/kind: "(\w+)"/g)].map(([, kind]) => kind)).toEqual(["local", "moon"]);
    expect(rows).toContain(`settings: ["terminal.moon_crater", "terminal.cwd"]`);
    expect(rows).toContain(`load: () => import("./moon/index.js")`);
    expect(read("src/config/environment-settings.gen.ts")).toContain(`"path": "terminal.moon_crater"`);
    await copy.write({ "src/env/mars/index.ts": descriptor("moon") });
    expect(await copy.node("scripts/manifest.mjs", "--check")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/src\/env\/mars\/index\.ts: .*kind "mars"/),
    });
  });

  it("writes down what plugins of the package bring, beside the tools", async () => {
    copy = await packageCopy({
      "src/plugins/p/plugin.yaml": "name: p\nversion: 1.0.0\ndescription: d\nprovides_tools: [a]\n",
      "src/plugins/p/a.ts": toolSource(`name: "a"`),
      "src/tools/b.ts": toolSource(`name: "b"`),
    });
    expect((await copy.node("scripts/manifest.mjs")).code).toBe(0);
    const read = (name: string) => readFileSync(join(copy?.root ?? "", name), "utf8");
    const tools = read("src/registry/builtin-manifest.gen.ts");
    expect(tools).toContain(`plugin: "p"`);
    expect(tools).toContain(`load: () => import("../plugins/p/a.js")`);
    expect(tools.match(/plugin:/g)).toHaveLength(1);
    expect(read("src/registry/bundled-plugins.gen.ts")).toMatch(/"name": "p".*"tools": \["a"\]/);
  });

  it.each([
    [
      "a default export that is no tool",
      { "src/tools/a.ts": "export default 1;" },
      /src\/tools\/a\.ts: .*not a tool/,
    ],
    ["an unusable name", { "src/tools/a.ts": toolSource(`name: "Bad-Name"`) }, /"Bad-Name" does not match/],
    [
      "a name claimed twice",
      {
        "src/tools/a.ts": toolSource(`name: "a"`),
        "src/tools/b.ts": toolSource(`name: "b", aliases: ["a"]`),
      },
      /both claim the tool name "a"/,
    ],
    [
      "a schema that is not data",
      { "src/tools/a.ts": toolSource(`name: "a", parameters: { type: "object", check: () => 1 }`) },
      /src\/tools\/a\.ts: parameters\.check is a function/,
    ],
    [
      "a plugin that brings what its manifest does not say",
      {
        "src/plugins/p/plugin.yaml": "name: p\nversion: 1.0.0\ndescription: d\nprovides_tools: [a]\n",
        "src/plugins/p/a.ts": toolSource(`name: "a"`),
        "src/plugins/p/b.ts": toolSource(`name: "b"`),
      },
      /src\/plugins\/p\/plugin\.yaml: provides_tools says a, the folder has a, b/,
    ],
    [
      "a plugin whose tool asks for more than its manifest says",
      {
        "src/plugins/p/plugin.yaml": "name: p\nprovides_tools: [a]\ncapabilities: [x:read]\n",
        "src/plugins/p/a.ts": toolSource(`name: "a", permissions: ["x:write"]`),
      },
      /asks for x:write/,
    ],
  ])("refuses %s", async (_what, files: Record<string, string>, message) => {
    copy = await packageCopy(files);
    const { code, stderr } = await copy.node("scripts/manifest.mjs");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });
});
