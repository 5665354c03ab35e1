import { type Dirent, readlinkSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

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

/** Logs and locks of databases, what is kept of damaged and older ones, and what a restore has left. */
const BESIDE =
  /(?:-(?:wal|shm|journal)|\.(?:lock|repair-lock|suspect|tmp))$|\.(?:corrupt|format)-\d|^\.?(?:before-)?restore-/;

const SECRETS = new Set([".env", "approvals.key", "mcp-tokens", "server.token"]);

/** Whether an entry of the home goes into a backup, and leaves the home when one is restored. */
export function isBackedUp(name: string, { secrets }: { readonly secrets: boolean }): boolean {
  if (LEFT_OUT.has(name) || INDEX.test(name) || BESIDE.test(name)) return false;
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

/** Every file and link of the home that a backup holds; sockets, pipes and devices are none. */
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
  if (entry.isSymbolicLink()) yield { path, kind: "link", target: readlinkSync(place) };
  else if (entry.isFile()) {
    if (!BESIDE.test(entry.name)) yield { path, kind: (await isDatabase(place)) ? "database" : "file" };
  } else if (entry.isDirectory()) {
    for (const inner of await sorted(place)) yield* below(home, `${path}/${inner.name}`, inner);
  }
}

async function sorted(folder: string): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return bytesRead === 16 && buffer.toString("latin1") === "SQLite format 3\0";
  } finally {
    await file.close();
  }
}
