import { letterMask, ORDINARY } from "./characters.js";
import type { TextTable } from "./path-index.js";

const WHOLE_FOLDER = 600;
const WHOLE_WORD = 540;
const BEGINNING_OF_FOLDER = 500;
const BEGINNING_OF_WORD = 440;
const INSIDE = 330;
const SCATTERED = 60;
const SLASH = 47;
const DIRECT_PARENT = 12;

/** How well a word fits each folder path (which end in a slash), 0 for not at all. */
export function scoreFolders(word: Uint16Array, folders: TextTable): Float64Array {
  const mask = letterMask(word, 0, word.length);
  const scores = new Float64Array(folders.size);
  for (let folder = 0; folder < folders.size; folder++) {
    if ((mask & ~(folders.masks[folder] ?? 0)) !== 0) continue;
    scores[folder] = scoreFolder(word, folders, folder);
  }
  return scores;
}

function scoreFolder(word: Uint16Array, folders: TextTable, folder: number): number {
  const { codes, places, starts } = folders;
  const start = starts[folder] ?? 0;
  const end = starts[folder + 1] ?? start;
  const { length } = word;
  let best = 0;
  for (let at = start; at + length <= end; at++) {
    let same = 0;
    while (same < length && codes[at + same] === word[same]) same++;
    if (same < length) continue;
    const stop = at + length;
    const begins = at === start || codes[at - 1] === SLASH;
    const ends = codes[stop] === SLASH;
    const wordEnds = ends || places[stop] !== ORDINARY || !isWordCode(codes[stop] ?? 0);
    const wordBegins = places[at] !== ORDINARY;
    let score = INSIDE;
    if (begins && ends) score = WHOLE_FOLDER;
    else if (wordBegins && wordEnds) score = WHOLE_WORD;
    else if (begins) score = BEGINNING_OF_FOLDER;
    else if (wordBegins) score = BEGINNING_OF_WORD;
    if (ends && stop + 1 === end) score += DIRECT_PARENT;
    if (score > best) best = score;
  }
  return best > 0 || !holdsInOrder(word, codes, { start, end }) ? best : SCATTERED;
}

function holdsInOrder(
  word: Uint16Array,
  codes: Uint16Array,
  { start, end }: { readonly start: number; readonly end: number },
): boolean {
  let found = 0;
  for (let at = start; at < end && found < word.length; at++) if (codes[at] === word[found]) found++;
  return found === word.length;
}

function isWordCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code >= 128;
}
