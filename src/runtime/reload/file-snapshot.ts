import type { BigIntStats, Dirent } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sha256 } from "../../base/hash.js";
import { isAtOrBelow } from "../../base/path.js";
import type { WatchedPlaces } from "./watched-places.js";

/** What was seen of one file. */
interface Seen {
  readonly signature: string;
  readonly hash: string;
  /** When it last changed, milliseconds since 1970. */
  readonly changedAt: number;
  /** False when it was so fresh that another change could have left the same times behind. */
  readonly isSettled: boolean;
}

/** The content of everything that is watched, by path. What is not there is not in it. */
export interface FileSnapshot {
  readonly files: ReadonlyMap<string, Seen>;
  /** The folders below the watched ones. */
  readonly folders: readonly string[];
}

export const EMPTY_SNAPSHOT: FileSnapshot = { files: new Map(), folders: [] };

const RELEVANT = /\.(?:[cm]?[jt]s|json|ya?ml)$/i;
const MAX_FILES = 5_000;
const MAX_FOLDERS = 5_000;
const MAX_DEPTH = 6;
/** What is larger is told apart by its times. */
const MAX_HASHED_BYTES = 4 * 1024 * 1024;
/** The coarsest clock of a file system in use. */
const CLOCK_STEP_MS = 2_000;
const READING_ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 20;

/** Looks at everything; what has the same times and size as before is not read again. */
export async function takeSnapshot(
  places: WatchedPlaces,
  before: FileSnapshot = EMPTY_SNAPSHOT,
): Promise<FileSnapshot> {
  const folders: string[] = [];
  const found: string[] = [];
  await Promise.all(
    places.folders.map((folder) =>
      walk(folder, { folders, found, depth: 0, links: [], all: places.whole.includes(folder) }),
    ),
  );
  // At once, because each step waits for its turn beside the calls that run.
  const paths = [...new Set([...places.settings, ...places.files, ...found])];
  const seen = await Promise.all(
    paths.map(async (path) => [path, await look(path, before.files.get(path))] as const),
  );
  const files = new Map(
    seen.flatMap(([path, looked]) => (looked === undefined ? [] : [[path, looked] as const])),
  );
  return { files, folders };
}

/** Paths whose content is not what it was: changed, new or gone. */
export function differences(before: FileSnapshot, now: FileSnapshot): readonly string[] {
  const changed = [...now.files].flatMap(([path, { hash }]) =>
    before.files.get(path)?.hash === hash ? [] : path,
  );
  const gone = [...before.files.keys()].filter((path) => !now.files.has(path));
  return [...changed, ...gone].sort();
}

interface Walk {
  readonly folders: string[];
  readonly found: string[];
  readonly depth: number;
  /** Where the links on the way here lead to: one that is followed twice never ends. */
  readonly links: readonly string[];
  /** Every file counts. */
  readonly all: boolean;
}

async function walk(folder: string, into: Walk): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch {
    return;
  }
  into.folders.push(folder);
  await Promise.all(
    entries.map(async (entry) => {
      const { name } = entry;
      if (name.startsWith(".") || name === "node_modules") return;
      const path = join(folder, name);
      const linked = entry.isSymbolicLink() ? await folderBehind(path) : undefined;
      if (entry.isDirectory() || linked !== undefined) {
        const isOpen = into.depth < MAX_DEPTH && into.folders.length < MAX_FOLDERS;
        if (!isOpen || (linked !== undefined && leadsBack(linked, path, into))) return;
        const links = linked === undefined ? into.links : [...into.links, linked];
        await walk(path, { ...into, depth: into.depth + 1, links });
      } else if ((into.all || RELEVANT.test(name)) && into.found.length < MAX_FILES) into.found.push(path);
    }),
  );
}

function leadsBack(target: string, link: string, { links }: Walk): boolean {
  return links.includes(target) || isAtOrBelow(link, target);
}

/** The real path of the folder that a link leads to. */
async function folderBehind(link: string): Promise<string | undefined> {
  try {
    return (await stat(link)).isDirectory() ? await realpath(link) : undefined;
  } catch {
    return undefined;
  }
}

/** Read only when its times are the same before and after; a file that keeps changing is seen as it was last. */
async function look(path: string, before: Seen | undefined): Promise<Seen | undefined> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const stats = await stat(path, { bigint: true });
      if (stats.isDirectory()) return undefined;
      const signature = signatureOf(stats);
      if (before?.isSettled === true && before.signature === signature) return before;
      const hash = await hashOf(path, stats);
      const after = signatureOf(await stat(path, { bigint: true }));
      if (after === signature || attempt === READING_ATTEMPTS) return seen(stats, hash);
      await pause(BETWEEN_ATTEMPTS_MS);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { signature: code, hash: `unreadable: ${code}`, changedAt: 0, isSettled: false };
  }
}

function seen(stats: BigIntStats, hash: string): Seen {
  const changedAt = Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs));
  return {
    signature: signatureOf(stats),
    hash,
    changedAt,
    isSettled: Date.now() - changedAt > CLOCK_STEP_MS,
  };
}

async function hashOf(path: string, stats: BigIntStats): Promise<string> {
  // A pipe or device would never end.
  if (!stats.isFile() || stats.size > MAX_HASHED_BYTES) return signatureOf(stats);
  return sha256(await readFile(path), "base64url");
}

function signatureOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
