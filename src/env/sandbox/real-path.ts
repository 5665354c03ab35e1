import { realpathSync } from "node:fs";

/**
 * Where a path really leads, or undefined when it leads nowhere. Blocking, like the other looks at names
 * here: a few dozen of them come before each command, and waiting for each in turn costs more than it frees.
 */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
