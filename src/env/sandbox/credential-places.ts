import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { plainNames } from "../../places/match-place.js";
import type { PlaceRow } from "../../places/table.js";
import type { Mount } from "./mounts.js";
import { realPath } from "./real-path.js";

/** What commands in the sandbox do not see: whatever reading would be asked about, histories, and Hermes' own home. */
function isHidden({ what, read }: PlaceRow): boolean {
  return read !== "allow" || what === "history";
}

/**
 * Covers every credential store of the home folder that is there. What is not there cannot be made: the
 * folder is read-only. Most are not, so the folder is listed once instead of asking for each.
 */
export function homeMounts(home: string): readonly Mount[] {
  const names = namesIn(home);
  const places = [
    ".hermes",
    ...plainNames("~/", isHidden),
    ...plainNames("**/", ({ what }) => what === "history"),
  ];
  const present = places.filter((path) => names.has(path.split("/")[0] ?? path));
  return coverAll(present.map((path) => join(home, path)));
}

export function systemMounts(): readonly Mount[] {
  return coverAll(plainNames("/", isHidden).map((path) => `/${path}`));
}

/** Covers what exists with nothing. */
export function coverAll(paths: readonly string[]): readonly Mount[] {
  return paths.map(cover).filter((mount) => mount !== undefined);
}

function cover(path: string): Mount | undefined {
  const real = realPath(path);
  const stats = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
  if (real === undefined || stats === undefined) return undefined;
  return stats.isDirectory() ? { kind: "empty", path: real, writable: false } : { kind: "blank", path: real };
}

/** A home folder that cannot be listed is asked for every name. */
function namesIn(home: string): { has(name: string): boolean } {
  try {
    return new Set(readdirSync(home));
  } catch {
    return { has: () => true };
  }
}
