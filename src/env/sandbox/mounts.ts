import { isAtOrBelow } from "../../base/path.js";
/** One place of the sandbox's file system; everything else is the machine's own, read-only. */
export type Mount =
  | { readonly kind: "read" | "write"; readonly path: string }
  /** A folder of its own in memory. */
  | { readonly kind: "empty"; readonly path: string; readonly writable: boolean }
  /** A file that reads as empty. */
  | { readonly kind: "blank"; readonly path: string };

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
  if (mount.kind === "write") return true;
  return over?.kind !== "empty";
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

/** Whether a folder of the machine can be seen at its place. */
export function isVisible(mounts: readonly Mount[], path: string): boolean {
  const over = mountOver(mounts, path);
  return over?.kind !== "empty" || over.path === path;
}
