import { join } from "node:path";
import type { CallContext } from "../../../tool/tool.js";
import { hiddenPlaces, isHiddenFromSearch } from "../path-guard.js";
import { isWithin } from "../paths.js";
import type { SearchRoot } from "./types.js";

/**
 * Says which paths (relative to the root folder) a search may show. Judged by the real place: the folder to search
 * may have been named through a link. Most trees hold no place of credentials, and most names are told apart by
 * their first letter; only the rest is looked at closely.
 */
export function visibleIn(root: SearchRoot, ctx: CallContext): (path: string) => boolean {
  const real = root.real.toLowerCase();
  const near = hiddenPlaces(ctx)
    .map((place) => place.toLowerCase())
    .some((place) => isWithin(place, real) || isWithin(real, place));
  const shows = (path: string) => !isHiddenFromSearch(join(root.real, path), root.begun, ctx);
  return near ? shows : (path) => !mayBeSecret(path) || shows(path);
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
