import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { installPlugin } from "../../../src/sources/plugins/install.js";
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

it.each([
  ["./nowhere", "does not exist"],
  ["./broken", "plugin.yaml is missing"],
])("%s is refused: %s", async (spec, reason) => {
  const { home } = house();
  mkdirSync(join(home, "broken"));
  writeFileSync(join(home, "broken", "index.mjs"), "");
  await expect(installPlugin(request(home, spec))).rejects.toThrow(reason);
});

it("a scaffold overwrites nothing and wants a usable name", async () => {
  const { home } = house();
  await scaffoldPlugin({ name: "my-plugin", dir: home });
  await expect(scaffoldPlugin({ name: "my-plugin", dir: home })).rejects.toThrow("is there already");
  await expect(scaffoldPlugin({ name: "../evil", dir: home })).rejects.toThrow("small letters");
});
