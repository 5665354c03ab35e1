import { type Dirent, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve as resolvePath } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isMissing } from "../../base/errno.js";
import type { FileStat } from "../environment.js";

const MAX_LINKS = 40;
const LOOKS_PER_TURN = 128;
let looks = 0;

/**
 * Looks at names block: the system answers from memory in a few microseconds, and handing each over to another thread
 * and back costs ten times that. Whoever has many lets others have their turn in between.
 */
export async function looking<T>(look: () => T): Promise<T> {
  looks += 1;
  if (looks % LOOKS_PER_TURN === 0) await nextTurn();
  return look();
}

/**
 * Follows every link, also a dangling one to where it points, so that a check on the answer is a check on
 * the place a write would really reach.
 */
export function realPath(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const place = join(realPath(parent, links), basename(path));
  const target = linkTarget(place);
  if (target === undefined) return place;
  if (links >= MAX_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
  return realPath(resolvePath(dirname(place), target), links + 1);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Links are followed; only a link that leads nowhere is reported as a link. */
export function statOf(path: string): FileStat | undefined {
  const missing = { throwIfNoEntry: false } as const;
  try {
    const stats = statSync(path, missing) ?? lstatSync(path, missing);
    return stats && toStat(stats);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function toStat(stats: Stats): FileStat {
  return {
    type: typeOf(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    mode: stats.mode & 0o7777,
    inode: `${stats.dev}:${stats.ino}`,
  };
}

export function typeOf(entry: Stats | Dirent): FileStat["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
