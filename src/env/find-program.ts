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

/** Why something cannot be used that needs a program. */
export function missingProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  fix: string,
): { readonly reason: string; readonly fix: string } | undefined {
  return findProgram(name, env) === undefined ? { reason: `${name} is not on PATH`, fix } : undefined;
}
