import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Full path of a program, or undefined when PATH does not lead to one. */
export function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (folder === "") continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}
