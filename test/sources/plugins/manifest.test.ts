import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../src/sources/plugins/fingerprint.js";
import { readPlugin } from "../../../src/sources/plugins/read-plugin.js";

const root = mkdtempSync(join(tmpdir(), "hermes-manifest-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

function folderWith(files: Readonly<Record<string, string>>, name = "weather"): string {
  made += 1;
  const folder = join(root, String(made), name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

async function problemsOf(manifest: string, files: Readonly<Record<string, string>> = { "index.mjs": "" }) {
  const folder = folderWith({ "plugin.yaml": manifest, ...files });
  const { problems } = await readPlugin({ folder, place: "home" });
  return problems.map((problem) => problem.replace(`${folder}/`, ""));
}

describe("plugin.yaml", () => {
  it("is read whole", async () => {
    const folder = folderWith({
      "plugin.yaml": `name: weather
version: 2.1.0
description: Tells the weather
author: Ada
main: src/start.ts
requires_env: [WEATHER_KEY]
provides_tools: [forecast]
provides_hooks:
  - post_tool_call
  - { name: pre_tool_call, on_failure: closed }
provides_toolsets: [outdoors]
provides_commands: [weather]
provides_environments: [attic]
provides_approvers: [pager]
provides_model_providers: [tiny]
capabilities: [network:fetch]
timeout: 5
`,
      "src/start.ts": "",
    });
    const { manifest, main, problems } = await readPlugin({ folder, place: "home" });
    expect(problems).toEqual([]);
    expect(main).toMatch(/src\/start\.ts$/);
    expect(manifest).toEqual({
      name: "weather",
      version: "2.1.0",
      description: "Tells the weather",
      author: "Ada",
      main: "src/start.ts",
      requiresEnv: ["WEATHER_KEY"],
      brings: {
        tools: ["forecast"],
        hooks: ["post_tool_call", "pre_tool_call"],
        toolsets: ["outdoors"],
        commands: ["weather"],
        environments: ["attic"],
        approvers: ["pager"],
        model_providers: ["tiny"],
      },
      closedHooks: ["pre_tool_call"],
      capabilities: ["network:fetch"],
      timeoutSeconds: 5,
    });
  });

  it.each([
    [
      "name: weather\nprovides_tool: [a]\n",
      'plugin.yaml:2:1: unknown field "provides_tool" (did you mean "provides_tools"?)',
    ],
    ["version: 1\n", "plugin.yaml:1:1: name is missing (give the plugin the name of its folder)"],
    ["name: Weather Now\n", "plugin.yaml:1:7: name must be small letters"],
    ["name: other\n", "plugin.yaml: name is other, but the folder is called weather"],
    [
      "name: weather\nprovides_hooks:\n  - pre_tool_cal\n",
      'plugin.yaml:3:5: provides_hooks: there is no hook "pre_tool_cal" (did you mean "pre_tool_call"?)',
    ],
    [
      "name: weather\nprovides_hooks: [{ name: pre_tool_call, on_failure: maybe }]\n",
      "on_failure must be open or closed",
    ],
    ["name: weather\nprovides_tools: greet\n", "plugin.yaml:2:17: provides_tools must be a list"],
    [
      "name: weather\ncapabilities: [everything]\n",
      'plugin.yaml:2:16: capabilities: the text "everything" is not a permission',
    ],
    ["name: weather\nrequires_env: [MY KEY]\n", "plugin.yaml:2:16: requires_env"],
    ["name: weather\ntimeout: 9999\n", "plugin.yaml:2:10: timeout must be a number of seconds, at most 600"],
    ["name: weather\nmain: ../evil.mjs\n", "plugin.yaml:2:7: main must be"],
    ["name: weather\nmain: gone.mjs\n", "has no gone.mjs"],
    ["name: weather\n  version: 1\n", "plugin.yaml:1:7: YAML syntax"],
  ])("%j is refused with the place of the mistake", async (text, expected) => {
    expect((await problemsOf(text)).join("\n")).toContain(expected);
  });

  it("a main file behind a link that leads away is refused", async () => {
    const outside = folderWith({ "index.mjs": "" }, "outside");
    const folder = folderWith({ "plugin.yaml": "name: weather\n" });
    symlinkSync(join(outside, "index.mjs"), join(folder, "index.mjs"));
    const { problems } = await readPlugin({ folder, place: "home" });
    expect(problems).toEqual([expect.stringContaining("leads out of the plugin's folder")]);
  });
});

describe("the manifest of an npm package", () => {
  const read = (text: object) =>
    readPlugin({
      folder: folderWith({ "package.json": JSON.stringify(text, null, "\t"), "index.mjs": "" }),
      place: "package",
      package: "@someone/hermes-plugin-weather",
    });

  it("is its hermes field; name, version, author and main come from the rest of package.json", async () => {
    const { name, manifest, problems } = await read({
      name: "@someone/hermes-plugin-weather",
      version: "3.0.0",
      author: { name: "Ada" },
      main: "./index.mjs",
      keywords: ["hermes-plugin"],
      hermes: { provides_tools: ["forecast"] },
    });
    expect(problems).toEqual([]);
    expect(name).toBe("weather");
    expect(manifest).toMatchObject({
      version: "3.0.0",
      author: "Ada",
      main: "index.mjs",
      brings: { tools: ["forecast"] },
    });
  });

  it("needs the keyword, so that no other package runs by mistake", async () => {
    const { problems } = await read({ name: "left-pad", hermes: {} });
    expect(problems).toEqual([expect.stringContaining('does not have the keyword "hermes-plugin"')]);
  });
});

describe("the fingerprint", () => {
  const fileName = fc.stringMatching(/^[a-z]{1,4}(?:\/[a-z]{1,3})?\.(?:js|txt)$/);
  const files = fc.dictionary(fileName, fc.string({ maxLength: 20 }), { minKeys: 1, maxKeys: 5 });

  it("is the same for the same files and another one after any change", async () => {
    await fc.assert(
      fc.asyncProperty(files, files, async (some, others) => {
        const [first, again, other] = await Promise.all(
          [some, some, others].map(async (one) => (await fingerprintOf(folderWith(one))).hash),
        );
        expect(again).toBe(first);
        const same =
          JSON.stringify(Object.entries(some).sort()) === JSON.stringify(Object.entries(others).sort());
        expect(other === first).toBe(same);
      }),
      { numRuns: 20 },
    );
  });

  it("covers names, and leaves installed packages and version control out", async () => {
    const folder = folderWith({ "index.mjs": "1", "node_modules/x/index.js": "2", ".git/HEAD": "3" });
    const { hash, files } = await fingerprintOf(folder);
    expect(files).toEqual([{ path: "index.mjs", bytes: 1 }]);
    renameSync(join(folder, "index.mjs"), join(folder, "main.mjs"));
    expect((await fingerprintOf(folder)).hash).not.toBe(hash);
  });

  it("cannot be taken of a folder with a link that leads out of it", async () => {
    const folder = folderWith({ "index.mjs": "" });
    symlinkSync("/etc/passwd", join(folder, "data"));
    await expect(fingerprintOf(folder)).rejects.toThrow("leads out");
  });
});
