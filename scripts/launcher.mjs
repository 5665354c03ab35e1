// Writes src/env/local/launcher/launcher-program.gen.ts: the launcher's program as text, so that it is there
// wherever the package is bundled to.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = ["src", "env", "local", "launcher"];
const HEADER = "// Written by `npm run build` from launcher.pl. Change that, not this.\n";

/** The text the module should have. Comments are for those who read the program, not for Perl. */
export async function launcherModuleText(root) {
  const program = await readFile(join(root, ...FOLDER, "launcher.pl"), "utf8");
  const lines = program.split("\n").filter((line) => !/^\s*(?:#.*)?$/.test(line));
  return `${HEADER}export const LAUNCHER_PROGRAM = ${JSON.stringify(`${lines.join("\n")}\n`)};\n`;
}

export function launcherModulePath(root) {
  return join(root, ...FOLDER, "launcher-program.gen.ts");
}

/** Returns whether the file had to change. */
export async function writeLauncherModule(root) {
  const path = launcherModulePath(root);
  const text = await launcherModuleText(root).catch(() => undefined);
  if (text === undefined || (await readFile(path, "utf8").catch(() => "")) === text) return false;
  await writeFile(path, text);
  return true;
}
