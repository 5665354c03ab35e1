import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { isBelow } from "../../base/path.js";
import { namesIn } from "../names-in.js";
import { type Mount, mountOver } from "./mounts.js";

export interface LandlockRules {
  /** `r` or `w` and a path. */
  readonly rules: readonly string[];
  /** Folders whose entries were allowed one by one: what is new in them has no rule. */
  readonly walked: readonly string[];
}

/**
 * A plan as Landlock can hold it, which only allows trees: along the way from the root to everything that is kept, its
 * neighbours are allowed one by one. Nothing new can be made in the folders on that way.
 */
export function landlockRules(mounts: readonly Mount[], root: boolean): LandlockRules {
  const kept = mounts.filter(
    ({ kind, path }) => kind !== "write" || mountOver(without(mounts, path), path)?.kind !== "write",
  );
  const rules: string[] = [];
  const walked: string[] = [];
  const walk = (path: string): void => {
    if (kept.some((mount) => isBelow(mount.path, path))) {
      walked.push(path);
      for (const name of namesIn(path)) walk(join(path, name));
      return;
    }
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== false) return;
    const kind = mountOver(mounts, path)?.kind;
    // Root owns the files there that change the whole machine.
    const kernel = root && (path === "/proc" || path === "/sys");
    if (kind === "write") rules.push(`${kernel ? "r" : "w"}${path}`);
    else if (kind === "read" || kind === undefined) rules.push(`r${path}`);
  };
  walk("/");
  return { rules, walked };
}

function without(mounts: readonly Mount[], path: string): readonly Mount[] {
  return mounts.filter((mount) => mount.path !== path);
}

export function timesOf(folders: readonly string[]): string {
  return folders.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs).join();
}
