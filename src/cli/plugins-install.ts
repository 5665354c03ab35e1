import { visible } from "../base/visible-text.js";
import { appendConfigValue } from "../config/edit.js";
import { loadConfig } from "../config/load.js";
import { installPlugin } from "../sources/plugins/install.js";
import { HermesError } from "../tool/errors.js";
import { assertPerson } from "./approvals-store.js";
import type { CommandContext } from "./globals.js";
import { bringsLines, bringsOf } from "./plugins-found.js";

/** Brings a plugin onto this machine without running any of it. */
export async function run(
  { out, home, configFlags }: CommandContext,
  [spec = ""]: readonly string[],
): Promise<void> {
  assertPerson("Plugins are installed");
  const cwd = process.cwd();
  const { paths } = await loadConfig({ home, cwd, env: process.env, flags: configFlags });
  const plugin = await installPlugin({ spec, cwd, pluginsFolder: paths.plugins, env: process.env });
  if (plugin.package !== undefined) {
    const done = await appendConfigValue({ home, key: "plugins.packages", items: [plugin.package] });
    if (!done.ok) throw new HermesError(done);
  }
  const { name, folder, manifest } = plugin;
  const next = `hermes plugins enable ${name}`;
  if (out.json) {
    out.value({
      name,
      version: manifest?.version ?? "",
      folder,
      ...(plugin.package !== undefined && { package: plugin.package }),
      brings: manifest === undefined ? {} : bringsOf(manifest),
      next,
    });
    return;
  }
  out.line(visible(`${name} ${manifest?.version ?? ""} is installed in ${folder}`));
  for (const line of manifest === undefined ? [] : bringsLines(manifest)) out.line(`  brings ${line}`);
  out.note(`It does not run yet: ${next}`);
}
