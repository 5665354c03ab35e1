import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAtOrBelow } from "../../base/path.js";
import { realPath } from "./real-path.js";

/** One place of the sandbox's file system; everything else is the machine's own, read-only. */
export type Mount =
  | { readonly kind: "read" | "write"; readonly path: string }
  /** A folder of its own in memory. */
  | { readonly kind: "empty"; readonly path: string; readonly writable: boolean }
  /** A folder of this session's own, which lies somewhere else. */
  | { readonly kind: "private"; readonly path: string; readonly from: string }
  /** A file that reads as empty. */
  | { readonly kind: "blank"; readonly path: string }
  /** A file that reads as this text. */
  | { readonly kind: "copy"; readonly path: string; readonly text: string };

/**
 * Puts mounts in the order in which they must be made: what lies above comes first, since a later mount
 * covers what an earlier one put below it. Of two at one path the later given one counts.
 */
export function arrange(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  const ordered = [...byPath.values()].sort(
    (left, right) => depth(left.path) - depth(right.path) || (left.path < right.path ? -1 : 1),
  );
  const kept: Mount[] = [];
  for (const mount of ordered) if (matters(mount, mountOver(kept, mount.path))) kept.push(mount);
  return kept;
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}

/** Hiding what is hidden already, or making read-only what is so already, changes nothing. */
function matters(mount: Mount, over: Mount | undefined): boolean {
  if (mount.kind === "read") return over !== undefined && over.kind !== "read";
  if (mount.kind === "write" || mount.kind === "private") return true;
  return over?.kind !== "empty" && over?.kind !== "private";
}

/** The nearest mount at or above a path; none means the machine's own file system. */
export function mountOver(mounts: readonly Mount[], path: string): Mount | undefined {
  let nearest: Mount | undefined;
  for (const mount of mounts) {
    if (!isAtOrBelow(path, mount.path)) continue;
    if (nearest === undefined || mount.path.length >= nearest.path.length) nearest = mount;
  }
  return nearest;
}

/** Whether a folder can be seen at its place. */
export function isVisible(mounts: readonly Mount[], path: string): boolean {
  const over = mountOver(mounts, path);
  return over?.kind !== "empty" || over.path === path;
}

/** More than this many outside the hidden folders is no ordinary machine; the rest stays reachable. */
const MAX_SOCKETS = 200;

/**
 * A read-only mount does not keep anybody from talking to a socket in it, so every socket of the machine
 * that has a name is covered. One made while the command runs is not known here.
 */
export async function socketMounts(
  isHidden: (path: string) => boolean,
  list = "/proc/net/unix",
): Promise<readonly Mount[]> {
  const table = await readFile(list, "utf8").catch(() => "");
  const paths = socketPaths(table).filter((path) => !isHidden(path));
  return paths.slice(0, MAX_SOCKETS).flatMap((path): Mount[] => {
    const real = realPath(path);
    return real === undefined || isHidden(real) || !isSocket(real) ? [] : [{ kind: "blank", path: real }];
  });
}

/** Names that begin with `@` are of the network namespace and unreachable with it. */
export function socketPaths(table: string): readonly string[] {
  const paths = table.split("\n").map((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line.trimStart())?.[1]);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}
