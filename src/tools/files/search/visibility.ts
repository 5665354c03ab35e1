import { join } from "node:path";
import { foldPath, isAtOrBelow, isBelow } from "../../../base/path.js";
import { type Homes, rowsOfPlace } from "../../../places/judge-place.js";
import { plainNames, rowsAt } from "../../../places/match-place.js";
import type { PlaceRow } from "../../../places/table.js";
import type { CallContext } from "../../../tool/tool.js";
import { homesOf } from "../path-guard.js";
import type { SearchRoot } from "./types.js";

/** File names that the programs behind a search leave out by themselves. */
export const SECRET_FILE_GLOBS: readonly string[] = plainNames(
  "**/",
  ({ what, read }) => what === "environment" && read === "deny",
);

/**
 * Says which paths (relative to the root folder) a search may show: nothing that reading would be asked about,
 * unless the search was begun inside of such a place (the policy has then asked for exactly that). Judged by the real
 * place: the folder to search may have been named through a link.
 */
export function visibleIn(root: SearchRoot, ctx: CallContext): (path: string) => boolean {
  const homes = homesOf(ctx);
  const begun = new Set(rowsOfPlace(root.begun, homes));
  const rowsOf = mayHoldPlaces(root.real, homes)
    ? (path: string) => rowsOfPlace(join(root.real, path), homes)
    : (path: string) => rowsAt({ path: foldPath(path) });
  const hides = (row: PlaceRow, path: string) =>
    row.read === "deny" || (row.read === "ask" && !begun.has(row) && join(root.real, path) !== root.begun);
  return (path) => !rowsOf(path).some((row) => hides(row, path));
}

/** Whether more can be protected below a folder than names that are so in every folder. */
function mayHoldPlaces(folder: string, homes: Homes): boolean {
  const { home, hermesHome } = homes;
  if (!isBelow(folder, home))
    return SHARED.test(folder) || isAtOrBelow(home, folder) || isAtOrBelow(hermesHome, folder);
  if (isAtOrBelow(folder, hermesHome) || isAtOrBelow(hermesHome, folder)) return true;
  const within = foldPath(folder);
  return plainNames("~/", ({ read }) => read !== "allow").some((name) => {
    const place = foldPath(join(home, name));
    return isAtOrBelow(place, within) || isAtOrBelow(within, place);
  });
}

const SHARED = /^\/(?:$|(?:proc|etc|run|var|root|home|users)(?:\/|$))/i;
