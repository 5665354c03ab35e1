import type { Dirent } from "node:fs";
import { open, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import { isMissing } from "../../base/errno.js";
import { MANIFEST } from "./manifest.js";

/** Can be fetched or made again, or belongs to this machine alone. */
const LEFT_OUT = new Set([
  "browsers",
  "cache",
  "logs",
  "models",
  "packages",
  "sandboxes",
  "server.json",
  "snapshots",
  "undo",
  "versions",
]);

/** The search index is made again from the conversations; it must not outlive those it was made from. */
const INDEX = /^sessions-index\.db/;

/** At the top of the home: locks, drafts, what is kept of damaged and older databases, and what a restore has left. */
const OWN =
  /\.db-(?:wal|shm|journal)$|\.(?:lock|repair-lock|suspect)$|[.-][0-9a-f]{8,12}\.tmp$|\.db(?:-wal)?\.(?:corrupt|format)-\d|^(?:\.restore-|before-restore-\d)/;

/** Only beside a database: elsewhere a person may have named a file so. */
const LOG = /-(?:wal|shm|journal)$/;

const SECRETS = new Set([".env", "approvals.key", "mcp-tokens", "server.token"]);

/** Whether an entry of the home goes into a backup, and leaves the home when one is restored. */
export function isBackedUp(name: string, { secrets }: { readonly secrets: boolean }): boolean {
  if (LEFT_OUT.has(name) || INDEX.test(name) || OWN.test(name)) return false;
  return secrets || !SECRETS.has(name);
}

/** Also goes when the rest is replaced, since it was made from it. */
export function isMadeFromRest(name: string): boolean {
  return INDEX.test(name) || /-(?:wal|shm)$/.test(name);
}

export interface HomeEntry {
  /** Below the home, with slashes. */
  readonly path: string;
  readonly kind: "file" | "database" | "link";
  /** Where a link leads, as it is written. */
  readonly target?: string;
}

/** Every file and link of the home that a backup holds; earlier backups, sockets, pipes and devices are none. */
export async function* homeEntries(
  home: string,
  wanted: { readonly secrets: boolean },
): AsyncGenerator<HomeEntry> {
  for (const entry of await sorted(home)) {
    if (isBackedUp(entry.name, wanted)) yield* below(home, entry.name, entry);
  }
}

async function* below(home: string, path: string, entry: Dirent): AsyncGenerator<HomeEntry> {
  const place = join(home, path);
  if (entry.isSymbolicLink()) {
    const target = await unlessMissing(() => readlink(place));
    if (target !== undefined) yield { path, kind: "link", target };
  } else if (entry.isFile()) {
    if (LOG.test(entry.name) && (await kindOf(place.replace(LOG, ""))) === "database") return;
    const kind = await kindOf(place);
    if (kind === "file" || kind === "database") yield { path, kind };
  } else if (entry.isDirectory()) {
    for (const inner of await sorted(place)) yield* below(home, `${path}/${inner.name}`, inner);
  }
}

async function sorted(folder: string): Promise<readonly Dirent[]> {
  const entries = (await unlessMissing(() => readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Undefined for what has left meanwhile, as locks and drafts do. */
export async function unlessMissing<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Undefined for what is no file, or none any more. A backup in a backup would double it each time, and bring secrets into
 * one that is to have none.
 */
async function kindOf(path: string): Promise<"database" | "backup" | "file" | undefined> {
  // Opening a pipe would wait for somebody who writes to it.
  const found = await unlessMissing(() => stat(path));
  if (found?.isFile() !== true) return undefined;
  const file = await unlessMissing(() => open(path));
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0);
    const start = buffer.subarray(0, bytesRead);
    if (start.subarray(0, 16).toString("latin1") === "SQLite format 3\0") return "database";
    return isBackup(start) ? "backup" : "file";
  } finally {
    await file.close();
  }
}

const FIRST_BYTES = 4_096;

/** By the name of the first member. */
function isBackup(start: Buffer): boolean {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return false;
  try {
    const tar = gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
    return tar.toString("latin1", 0, MANIFEST.length + 1) === `${MANIFEST}\0`;
  } catch {
    return false;
  }
}
