import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fingerprintOf } from "../../../src/sources/plugins/fingerprint.js";
import { installPlugin } from "../../../src/sources/plugins/install.js";
import { readPlugin } from "../../../src/sources/plugins/read-plugin.js";
import { scaffoldPlugin } from "../../../src/sources/plugins/scaffold.js";
import { house, manifest } from "./support.js";

const OFFLINE = { PATH: process.env.PATH, npm_config_offline: "true", npm_config_update_notifier: "false" };

function request(home: string, spec: string) {
  const pluginsFolder = join(home, "plugins");
  return { spec, cwd: home, pluginsFolder, env: { ...OFFLINE, HOME: home } };
}

it("a plain plugin folder is copied, without what was installed into it", async () => {
  const { home, plugin } = house();
  const files = { "plugin.yaml": manifest("plain"), "index.mjs": "", "node_modules/x/index.js": "" };
  plugin("plain", files, join(home, "elsewhere"));
  const installed = await installPlugin(request(home, "./elsewhere/plain"));
  expect(installed).toMatchObject({
    name: "plain",
    place: "home",
    folder: join(home, "plugins", "plain"),
    problems: [],
  });
  expect(existsSync(join(home, "plugins", "plain", "node_modules"))).toBe(false);
  await expect(installPlugin(request(home, "./elsewhere/plain"))).rejects.toThrow("is there already");
});

it("a package without the keyword is refused, and nothing of it stays", async () => {
  const { home, plugin } = house();
  const files = {
    "plugin.yaml": manifest("other"),
    "index.mjs": "",
    "package.json": '{ "name": "other", "version": "1.0.0" }',
  };
  plugin("other", files, join(home, "elsewhere"));
  await expect(installPlugin(request(home, "./elsewhere/other"))).rejects.toThrow('keyword "hermes-plugin"');
  expect(existsSync(join(home, "plugins", "node_modules", "other"))).toBe(false);
  expect(JSON.parse(readFileSync(join(home, "plugins", "package.json"), "utf8"))).not.toHaveProperty(
    "dependencies.other",
  );
});

it("a link inside a plain folder leads inside the copy", async () => {
  const { home, plugin } = house();
  const folder = plugin(
    "plain",
    { "plugin.yaml": manifest("plain"), "lib/x.mjs": "" },
    join(home, "elsewhere"),
  );
  symlinkSync("lib/x.mjs", join(folder, "index.mjs"));
  const installed = await installPlugin(request(home, "./elsewhere/plain"));
  expect(installed).toMatchObject({ problems: [], main: join(home, "plugins", "plain", "lib", "x.mjs") });
  expect((await fingerprintOf(installed.folder)).files).toHaveLength(3);
  expect(readdirSync(join(home, "plugins"))).toEqual(["plain"]);
});

it("a package is brought up to date from its folder, without running a script; a broken one changes nothing", async () => {
  const { home, plugin } = house();
  const describe = (version: string, keywords: readonly string[]) => ({
    "package.json": JSON.stringify({
      name: "hermes-plugin-news",
      version,
      main: "index.mjs",
      keywords,
      scripts: { prepare: "touch ../ran-a-script", prepack: "touch ../ran-a-script" },
      hermes: {},
    }),
    "index.mjs": `export default () => ${JSON.stringify(version)};\n`,
  });
  const installedCode = () =>
    readFileSync(join(home, "plugins", "node_modules", "hermes-plugin-news", "index.mjs"), "utf8");
  plugin("good", describe("1.0.0", ["hermes-plugin"]), home);
  const spec = request(home, "./good");
  expect(await installPlugin(spec)).toMatchObject({ name: "news", manifest: { version: "1.0.0" } });
  plugin("good", describe("1.1.0", ["hermes-plugin"]), home);
  expect(await installPlugin(spec)).toMatchObject({ name: "news", manifest: { version: "1.1.0" } });
  expect(installedCode()).toContain("1.1.0");
  plugin("other", describe("2.0.0", []), home);
  await expect(installPlugin(request(home, "./other"))).rejects.toThrow('keyword "hermes-plugin"');
  expect(installedCode()).toContain("1.1.0");
  expect(existsSync(join(home, "ran-a-script"))).toBe(false);
}, 120_000);

it.each([
  "someone/plugin",
  "github:someone/plugin",
  "git+https://localhost/plugin.git",
  "https://localhost/plugin.tgz",
  "other@npm:real",
  "--registry=http://localhost",
])("%s is no place to install from: npm would fetch and run more than was asked for", async (spec) => {
  const { home } = house();
  await expect(installPlugin(request(home, spec))).rejects.toMatchObject({ code: "bad_request" });
});

it.each([
  ["./nowhere", "does not exist"],
  ["~/nowhere.tgz", "nowhere.tgz does not exist"],
  ["./broken", "plugin.yaml is missing"],
])("%s is refused: %s", async (spec, reason) => {
  const { home } = house();
  mkdirSync(join(home, "broken"));
  writeFileSync(join(home, "broken", "index.mjs"), "");
  await expect(installPlugin(request(home, spec))).rejects.toThrow(reason);
});

it.each(["2026", "true", "1e3"])("a scaffold called %s can be used", async (name) => {
  const { home } = house();
  const { folder } = await scaffoldPlugin({ name, dir: join(home, "plugins") });
  expect(await readPlugin({ folder, place: "home" })).toMatchObject({ name, problems: [] });
});

it("a scaffold overwrites nothing and wants a usable name", async () => {
  const { home } = house();
  await scaffoldPlugin({ name: "my-plugin", dir: home });
  await expect(scaffoldPlugin({ name: "my-plugin", dir: home })).rejects.toThrow("is there already");
  await expect(scaffoldPlugin({ name: "../evil", dir: home })).rejects.toThrow("small letters");
});
