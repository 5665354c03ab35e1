import { join, relative } from "node:path";
import { isAtOrBelow } from "../../../base/path.js";
import type { CallContext } from "../../../tool/tool.js";
import { hiddenPlaces, isHiddenFromSearch } from "../path-guard.js";
import type { SearchRoot } from "./types.js";

/**
 * Says which paths (relative to the root folder) a search may show. Judged by the real place: the folder to search
 * may have been named through a link. Most names are told apart by their first letters and most folders hold no
 * place of credentials; only the rest is looked at closely, which takes a thousand times longer.
 */
export function visibleIn(root: SearchRoot, ctx: CallContext): (path: string) => boolean {
  const real = root.real.toLowerCase();
  const places = hiddenPlaces(ctx).map((place) => place.toLowerCase());
  const shows = (path: string) => !isHiddenFromSearch(join(root.real, path), root.begun, ctx);
  if (places.some((place) => isAtOrBelow(real, place))) return shows;
  const below = places.filter((place) => isAtOrBelow(place, real)).map((place) => relative(real, place));
  const mayLieBelow = (path: string) => {
    const lower = path.toLowerCase();
    return below.some((place) => lower.startsWith(place));
  };
  return (path) => (!mayBeSecret(path) && (below.length === 0 || !mayLieBelow(path))) || shows(path);
}

/** Secrets by name alone are .env… and id_…, in any case. */
function mayBeSecret(path: string): boolean {
  const start = path.lastIndexOf("/") + 1;
  const first = path.charCodeAt(start);
  if (first === DOT) return (path.charCodeAt(start + 1) | LOWER) === LETTER_E;
  return (first | LOWER) === LETTER_I && path.charCodeAt(start + 2) === UNDERSCORE;
}

const DOT = 46;
const UNDERSCORE = 95;
const LETTER_E = 101;
const LETTER_I = 105;
/** The bit that makes a letter a small one. */
const LOWER = 32;
