import { join, relative, resolve } from "node:path";
import { hermesPaths } from "../config/paths.js";
import { scaffoldPlugin } from "../sources/plugins/scaffold.js";
import type { CommandContext } from "./globals.js";

/** A small plugin that works, to begin with. */
export async function run(
  { out, home }: CommandContext,
  [name = ""]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { plugins } = hermesPaths(home);
  const dir = typeof options.dir === "string" ? resolve(options.dir) : plugins;
  const { folder, files } = await scaffoldPlugin({ name, dir });
  if (out.json) {
    out.value({ name, folder, files });
    return;
  }
  out.line(`${folder}: ${files.join(", ")}`);
  out.note(`Test it:    cd ${relative(process.cwd(), folder) || "."} && node --test`);
  // A copy would not follow what is changed in the folder.
  if (dir !== plugins) out.note(`Link it:    ln -s ${folder} ${join(plugins, name)}`);
  out.note(`Enable it:  hermes plugins enable ${name} --dev`);
}
