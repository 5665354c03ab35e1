import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isAtOrBelow } from "../../../src/base/path.js";
import { judgePlace, rowsOfPlace } from "../../../src/places/judge-place.js";
import type { PlaceKind } from "../../../src/places/table.js";
import type { Canaries } from "./canaries.js";
import type { Machine } from "./machine.js";

export type Snapshot = ReadonlyMap<string, string>;

/** What a row got at, in a few words. */
export interface Reached {
  readonly how: "read" | "changed" | "talked to";
  readonly what: string;
}

/** Mounts of the cage's own. */
const NOT_LOOKED_AT = ["/usr", "/proc", "/dev", "/sys"];
const MAX_BYTES = 4_000_000;

/** Kinds of the table that the boundary keeps; the others are a project's own and ordinary work. */
const KEPT: readonly PlaceKind[] = [
  ...(["hermes", "hermes-secrets", "project-hermes", "credentials", "system-secrets"] as const),
  ...(["system", "startup", "control-socket"] as const),
];

/** Every name of the machine; files with what changes when anything about them does. */
export function snapshot(root: string): Snapshot {
  const found = new Map<string, string>();
  const walk = (path: string): void => {
    for (const name of readdirSync(join(root, path))) {
      const inside = join(path, name);
      if (NOT_LOOKED_AT.includes(inside)) continue;
      const stats = lstatSync(join(root, inside), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const times = stats.isDirectory() ? "" : `${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
      const link = stats.isSymbolicLink() ? readlinkSync(join(root, inside)) : "";
      found.set(inside, `${stats.mode}:${stats.ino}:${times}:${link}`);
      // A row may have shut it; everything belongs to the one user there is.
      if (stats.isDirectory() && (stats.mode & 0o700) !== 0o700) chmodSync(join(root, inside), 0o700);
      if (stats.isDirectory()) walk(inside);
    }
  };
  walk("/");
  return found;
}

/** Of what a snapshot says about a name. */
export function isFolder(seen: string | undefined): boolean {
  return (Number.parseInt(seen ?? "0", 10) & constants.S_IFMT) === constants.S_IFDIR;
}

export function changes(before: Snapshot, after: Snapshot): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** What was changed although the boundary keeps it, and the secrets that lie now where the row could take them. */
export function reachedOnDisk(
  changed: readonly string[],
  {
    before,
    after,
    machine,
    canaries,
  }: {
    readonly before: Snapshot;
    readonly after: Snapshot;
    readonly machine: Machine;
    readonly canaries: Canaries;
  },
): readonly Reached[] {
  const { root, home } = machine;
  const kept = changed.filter((path) => isKept(path, machine, before.has(path)));
  // Not what is behind a link: the walk has not been there.
  const copies = changed.filter((path) => after.has(path) && !kept.includes(path));
  return [
    ...kept.map((path): Reached => ({ how: "changed", what: path })),
    ...(after.has(home) ? [] : [{ how: "changed", what: home } as const]),
    ...copies.flatMap((path) =>
      isSetId(join(root, path)) ? [{ how: "changed", what: `set-user-ID ${path}` } as const] : [],
    ),
    ...copies.flatMap((path) =>
      canaries
        .in(Buffer.concat([Buffer.from(path), contentOf(join(root, path))]))
        .map((place): Reached => ({ how: "read", what: `${place} (in ${path})` })),
    ),
  ];
}

function isKept(path: string, { home, hermesHome, workspace }: Machine, wasThere: boolean): boolean {
  const { verdict, what } = judgePlace({ path, operation: "write", home, hermesHome });
  if (verdict === "allow" || !KEPT.includes(what)) return false;
  // A folder called `.ssh` in a project or a copy is nobody's store; a project's Hermes settings are what they are.
  if (isAtOrBelow(path, workspace)) return what === "project-hermes";
  // A store that was not there held no secret; what starts programs from it counts.
  if (what === "credentials" && !wasThere) {
    if (!isAtOrBelow(path, home)) return false;
    return rowsOfPlace(path, { home, hermesHome }).some((row) => row.what === "startup");
  }
  return (
    isAtOrBelow(path, home) || what === "system" || what === "system-secrets" || what === "control-socket"
  );
}

function isSetId(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & 0o4000) !== 0;
}

/** Never through a link, never from a pipe; unpacked where it is packed. */
function contentOf(file: string): Buffer {
  let descriptor: number;
  try {
    if (!lstatSync(file).isFile()) return Buffer.alloc(0);
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(Math.min(MAX_BYTES, fstatSync(descriptor).size));
    const content = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
    return Buffer.concat([content, unpacked(content)]);
  } finally {
    closeSync(descriptor);
  }
}

function unpacked(content: Buffer): Buffer {
  const begins = content.subarray(0, 6).toString("latin1");
  try {
    if (begins.startsWith("\x1f\x8b")) return gunzipSync(content);
    const program = begins.startsWith("BZh") ? "bzip2" : begins.startsWith("\xfd7zXZ") ? "xz" : undefined;
    return program === undefined
      ? Buffer.alloc(0)
      : execFileSync(program, ["-dc"], { input: content, stdio: ["pipe", "pipe", "ignore"] });
  } catch {
    return Buffer.alloc(0);
  }
}

/** Puts everything back that is not as it was. Nothing of the row may run any more. */
export function putBack(changed: readonly string[], root: string, pristine: string): void {
  const done: string[] = [];
  for (const path of changed) {
    if (done.some((above) => isAtOrBelow(path, above))) continue;
    rmSync(join(root, path), { recursive: true, force: true });
    if (lstatSync(join(pristine, path), { throwIfNoEntry: false }) === undefined) continue;
    if (!existsSync(dirname(join(root, path)))) continue;
    cpSync(join(pristine, path), join(root, path), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
    done.push(path);
  }
}
