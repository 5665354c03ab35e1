import { join, relative, resolve } from "node:path";
import { visible } from "../../base/visible-text.js";
import { appendConfigValue } from "../../config/edit.js";
import { hermesPaths } from "../../config/paths.js";
import { installPlugin } from "../../sources/plugins/install.js";
import { scaffoldPlugin } from "../../sources/plugins/scaffold.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { assertPerson } from "../person.js";
import { bringsLines, bringsOf } from "./found.js";

/** Brings a plugin onto this machine without running any of it. */
export async function install({ out, home, config, args }: CommandContext): Promise<void> {
  assertPerson("Plugins are installed by a person");
  const { plugins: pluginsFolder } = (await config()).paths;
  const [spec = ""] = args;
  const plugin = await installPlugin({ spec, cwd: process.cwd(), pluginsFolder, env: process.env });
  if (plugin.package !== undefined) {
    const done = await appendConfigValue({ home, key: "plugins.packages", items: [plugin.package] });
    if (!done.ok) throw new HermesError(done);
  }
  const { name, folder, manifest } = plugin;
  const next = `hermes plugins enable ${name}`;
  if (out.json)
    return out.value({
      name,
      version: manifest?.version ?? "",
      folder,
      package: plugin.package,
      brings: manifest === undefined ? {} : bringsOf(manifest),
      next,
    });
  out.line(visible(`${name} ${manifest?.version ?? ""} is installed in ${folder}`));
  for (const line of manifest === undefined ? [] : bringsLines(manifest)) out.line(`  brings ${line}`);
  out.note(`It does not run yet: ${next}`);
}

/** A small plugin that works, to begin with. */
export async function create({ out, home, args, options }: CommandContext): Promise<void> {
  const [name = ""] = args;
  const { plugins } = hermesPaths(home);
  const dir = typeof options.dir === "string" ? resolve(options.dir) : plugins;
  const { folder, files } = await scaffoldPlugin({ name, dir });
  if (out.json) return out.value({ name, folder, files });
  out.line(`${folder}: ${files.join(", ")}`);
  out.note(`Test it:    cd ${relative(process.cwd(), folder) || "."} && node --test`);
  // A copy would not follow what is changed in the folder.
  if (dir !== plugins) out.note(`Link it:    ln -s ${folder} ${join(plugins, name)}`);
  out.note(`Enable it:  hermes plugins enable ${name} --dev`);
}
