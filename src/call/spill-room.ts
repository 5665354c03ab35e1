import { type Dirent, lstatSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOwnerAlive, newOwnerId } from "../store/process-owner.js";

/** Names the process whose session a folder belongs to, so that others can tell whether it still runs. */
const OWNER_FILE = ".owner";
let ownName: string | undefined;

interface SpilledFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

export function markOwner(dir: string): void {
  ownName ??= newOwnerId();
  writeFileSync(join(dir, OWNER_FILE), ownName, { mode: 0o600 });
}

/** What all sessions have spilled. */
export function spilledBytes(root: string): number {
  return spilledFiles(root).reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Removes what is too old, then the oldest until the rest has room: first what belongs to nobody that still runs, then
 * what other running programs may still read, and of the asking session last. `newest` stays in any case.
 */
export function makeRoom(limits: {
  readonly root: string;
  readonly own: string;
  readonly newest?: string | undefined;
  readonly before: number;
  readonly maxBytes: number;
}): void {
  const { root, own, newest, before, maxBytes } = limits;
  const kept: SpilledFile[] = [];
  for (const file of spilledFiles(root)) {
    if (file.modifiedAt < before && file.path !== newest) rmSync(file.path, { force: true });
    else kept.push(file);
  }
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxBytes) {
    const ranks = new Map<string, number>();
    const rankOf = ({ path }: SpilledFile) => {
      const folder = dirname(path);
      const rank = ranks.get(folder) ?? (folder === own ? 2 : isInUse(folder) ? 1 : 0);
      ranks.set(folder, rank);
      return rank;
    };
    kept.sort((a, b) => rankOf(a) - rankOf(b) || a.modifiedAt - b.modifiedAt);
    for (const { path, bytes } of kept) {
      if (total <= maxBytes) break;
      if (path === newest) continue;
      rmSync(path, { force: true });
      total -= bytes;
    }
  }
  for (const folder of foldersIn(root)) if (folder !== own) removeEmpty(folder);
}

function isInUse(folder: string): boolean {
  try {
    return isOwnerAlive(readFileSync(join(folder, OWNER_FILE), "utf8"));
  } catch {
    return false;
  }
}

/** Of all sessions; those of older versions lie in the root itself. */
function spilledFiles(root: string): readonly SpilledFile[] {
  return [root, ...foldersIn(root)].flatMap((folder) =>
    entriesIn(folder)
      .filter((entry) => entry.isFile() && entry.name.endsWith(".txt"))
      .flatMap(({ name }) => {
        const path = join(folder, name);
        const found = lstatSync(path, { throwIfNoEntry: false });
        return found === undefined ? [] : [{ path, bytes: found.size, modifiedAt: found.mtimeMs }];
      }),
  );
}

function foldersIn(root: string): readonly string[] {
  return entriesIn(root)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, name));
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function removeEmpty(folder: string): void {
  if (entriesIn(folder).some(({ name }) => name !== OWNER_FILE) || isInUse(folder)) return;
  rmSync(join(folder, OWNER_FILE), { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // It holds something by now, or another process removed it first.
  }
}
