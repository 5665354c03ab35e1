import { randomBytes } from "node:crypto";
import { lstatSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from "node:fs";

/** A name that must be after a command what it was before: missing, or a link to the same place. */
export interface WatchedName {
  readonly path: string;
  readonly target: string | undefined;
}

export function watchNames(paths: readonly string[]): readonly WatchedName[] {
  return paths.map((path) => ({ path, target: targetOf(path) }));
}

/** Undoes what a command did to watched names and says which they were. Its processes must be gone. */
export function putBack(names: readonly WatchedName[]): readonly string[] {
  const changed: string[] = [];
  for (const { path, target } of names) {
    const now = lstatSync(path, { throwIfNoEntry: false });
    const same = target === undefined ? now === undefined : targetOf(path) === target;
    if (same) continue;
    changed.push(path);
    try {
      // One step each: walking through a folder somebody else may be changing could lead out of it.
      if (now?.isDirectory()) renameSync(path, `${path}.refused-${randomBytes(4).toString("hex")}`);
      else if (now !== undefined) unlinkSync(path);
      if (target !== undefined) symlinkSync(target, path);
    } catch {
      // Somebody changes it at the same time; it is told, and looked at again.
    }
  }
  return changed;
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
