import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trustFolder } from "../../../src/config/trust.js";
import { findPlugins } from "../../../src/sources/plugins/find-plugins.js";
import { fingerprintOf } from "../../../src/sources/plugins/fingerprint.js";
import { readPlugin } from "../../../src/sources/plugins/read-plugin.js";
import { house, manifest, statusOf } from "./support.js";

const ran = globalThis as { hermesUnconfirmed?: boolean };

describe("only files that were confirmed run", () => {
  // While the plugin is being loaded, one of its files is replaced: as somebody else could do at that moment.
  const SWAPS = `import { writeFileSync } from "node:fs";
writeFileSync(new URL("./later.FORMAT", import.meta.url), SWAPPED);
await import("./later.FORMAT", WITH);
export default () => {};\n`;

  it.each([
    ["mjs", "globalThis.hermesUnconfirmed = true;", "undefined"],
    ["json", "1", '{ with: { type: "json" } }'],
  ])("a .%s file that is replaced behind the check is refused", async (format, swapped, how) => {
    const home = house();
    home.plugin("p1", {
      "plugin.yaml": manifest("p1"),
      "index.mjs": SWAPS.replaceAll("FORMAT", format)
        .replace("SWAPPED", JSON.stringify(swapped))
        .replace("WITH", how),
      [`later.${format}`]: "",
    });
    home.config("plugins:\n  enabled: [p1]\n");
    await home.confirm("p1");
    const runtime = await home.open();
    expect(statusOf(runtime, "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining(`later.${format} has changed since it was confirmed`),
    });
    expect(ran.hermesUnconfirmed).toBeUndefined();
  });

  it("a package that is imported by its path is among them; one that is installed beside is not", async () => {
    const home = house();
    const folder = home.plugin("p1", {
      "plugin.yaml": manifest("p1"),
      "index.mjs": 'import "./node_modules/@x/helper/index.mjs";\nexport default () => {};\n',
    });
    const write = (name: string, text: string) => {
      mkdirSync(join(folder, "node_modules", name), { recursive: true });
      writeFileSync(join(folder, "node_modules", name, "index.mjs"), text);
    };
    write("@x/helper", "");
    write("other", "");
    const before = (await fingerprintOf(folder)).hash;
    write("other", "globalThis.hermesUnconfirmed = true;");
    expect((await fingerprintOf(folder)).hash).toBe(before);
    home.config("plugins:\n  enabled: [p1]\n");
    await home.confirm("p1");
    write("@x/helper", "globalThis.hermesUnconfirmed = true;");
    expect((await fingerprintOf(folder)).hash).not.toBe(before);
    expect(statusOf(await home.open(), "p1")?.state).not.toBe("ready");
    expect(ran.hermesUnconfirmed).toBeUndefined();
  });

  it("a module outside the folder was never confirmed; with --dev it is the author's own", async () => {
    const home = house();
    home.plugin("p1", {
      "plugin.yaml": manifest("p1"),
      "index.mjs": 'import "../../beside.mjs";\nexport default () => {};\n',
    });
    writeFileSync(join(home.home, "beside.mjs"), "");
    home.config("plugins:\n  enabled: [p1]\n");
    await home.confirm("p1");
    expect(statusOf(await home.open(), "p1")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("beside.mjs is not among the files that were confirmed"),
    });
    await home.confirm("p1", { dev: true });
    expect(statusOf(await home.open(), "p1")).toMatchObject({ state: "ready" });
  });

  it("files of the folder are found behind a link inside it, and when they are needed later", async () => {
    const home = house();
    const folder = home.plugin("p1", {
      "plugin.yaml": manifest("p1", "provides_tools: [later]"),
      "index.mjs": `import { word } from "./linked/word.mjs";
export default (ctx) => ctx.tool({
  name: "later", schema: {},
  handler: async () => word + (await import("./data.json", { with: { type: "json" } })).default.mark,
});\n`,
      "lib/word.mjs": 'export const word = "ahoy";\n',
      "data.json": '{ "mark": "!" }',
    });
    symlinkSync("lib", join(folder, "linked"));
    home.config("plugins:\n  enabled: [p1]\n");
    await home.confirm("p1");
    const runtime = await home.open();
    expect(statusOf(runtime, "p1")).toMatchObject({ state: "ready" });
    const session = await runtime.openSession();
    expect(await session.call({ name: "later" })).toMatchObject({ ok: true, content: [{ text: "ahoy!" }] });
  });

  it("the main module does not hide where nothing is confirmed", async () => {
    const home = house();
    const folder = home.plugin("p1", {
      "plugin.yaml": manifest("p1", "main: node_modules/x/index.mjs"),
      "node_modules/x/index.mjs": "",
    });
    const direct = await readPlugin({ folder, place: "home" });
    expect(direct.problems).toEqual([expect.stringContaining("lies where files are not confirmed")]);
    home.plugin("p1", { "plugin.yaml": manifest("p1") });
    symlinkSync("node_modules/x/index.mjs", join(folder, "index.mjs"));
    const linked = await readPlugin({ folder, place: "home" });
    expect(linked.problems).toEqual([expect.stringContaining("lies where files are not confirmed")]);
  });

  it("a file that comes and goes while the others are looked at does not stop a plugin", async () => {
    const home = house();
    const folder = home.plugin("p1", { "plugin.yaml": manifest("p1"), "index.mjs": "" });
    const quiet = (await fingerprintOf(folder)).hash;
    const names = Array.from({ length: 20 }, (_, index) => join(folder, `${index}.part~`));
    for (let round = 0; round < 15; round += 1) {
      for (const name of names) writeFileSync(name, "");
      // They count while they are there.
      if (round === 0) expect((await fingerprintOf(folder)).hash).not.toBe(quiet);
      const looking = fingerprintOf(folder);
      await new Promise((resolve) => setTimeout(resolve, round % 4));
      for (const name of names) rmSync(name);
      await looking;
    }
    expect((await fingerprintOf(folder)).hash).toBe(quiet);
  });
});

describe("what is found", () => {
  it("a package that is listed with and without a version, or linked as well, is one plugin", async () => {
    const home = house();
    const files = { "package.json": '{ "keywords": ["hermes-plugin"], "hermes": {} }', "index.mjs": "" };
    const folder = home.plugin("hermes-plugin-p1", files, join(home.home, "plugins", "node_modules"));
    const paths = { plugins: join(home.home, "plugins") };
    const values = { plugins: { packages: ["hermes-plugin-p1", "hermes-plugin-p1@1.2.3"] } };
    symlinkSync(folder, join(paths.plugins, "another-name"));
    const found = await findPlugins({ paths, values } as never);
    expect(found).toMatchObject([{ name: "p1", problems: [] }]);
  });

  it("a project may switch a plugin off, but not one that watches calls", async () => {
    const home = house();
    const code = (what: string) => `export default (ctx) => { ${what} };`;
    home.plugin("watcher", {
      "plugin.yaml": manifest("watcher", "provides_hooks: [pre_tool_call]"),
      "index.mjs": code('ctx.hook("pre_tool_call", () => {});'),
    });
    home.plugin("plain", { "plugin.yaml": manifest("plain"), "index.mjs": code("") });
    home.config("plugins:\n  enabled: [watcher, plain]\n");
    await home.confirm("watcher");
    await home.confirm("plain");
    mkdirSync(join(home.cwd, ".hermes"));
    await trustFolder({ home: home.home, folder: home.cwd });
    writeFileSync(join(home.cwd, ".hermes", "config.yaml"), "plugins:\n  disabled: [watcher, plain]\n");
    const runtime = await home.open();
    expect(statusOf(runtime, "watcher")).toMatchObject({ state: "ready" });
    expect(statusOf(runtime, "plain")).toMatchObject({ state: "disabled" });
    home.config("plugins:\n  enabled: [watcher, plain]\n  disabled: [watcher]\n");
    await home.refresh(runtime);
    expect(statusOf(runtime, "watcher"), "the person's own word").toMatchObject({ state: "disabled" });
  });
});
