import { foldText, letterMask, ORDINARY } from "./characters.js";
import { NameScorer } from "./name-score.js";
import type { PathIndex, TextTable } from "./path-index.js";
import { SpreadScorer } from "./spread.js";

export interface FoundPaths {
  /** Best first, no more than wanted. */
  readonly paths: readonly string[];
  readonly total: number;
}

export interface FindOptions {
  readonly wanted: number;
  accepts?(path: string): boolean;
}

/** People type folders first: the last word is rather one of the name, the others are not. */
const LAST_WORD_IN_NAME = 1.5;
const OTHER_WORD_IN_NAME = 0.7;
const MAX_WORDS = 8;
const MAX_WORD_LENGTH = 200;
/** With so many names that fit, letters strewn over folder and name are only noise. */
const ENOUGH_NAMES = 2000;

/**
 * Paths that resemble what was typed: part of a name, first letters of its words, a name with one slip of the
 * finger, letters of folder and name in order, or several words (separated by blanks or slashes).
 */
export function findPaths(index: PathIndex, query: string, options: FindOptions): FoundPaths {
  const typed = query
    .split(/[\s/\\]+/)
    .filter((word) => word !== "" && word !== ".")
    .slice(-MAX_WORDS)
    .map((word) => word.slice(0, MAX_WORD_LENGTH))
    .reverse();
  const words = typed.map(foldText);
  const [last] = words;
  if (last === undefined) return { paths: [], total: 0 };
  const inName = new NameScorer(last, index.names);
  const single = words.length === 1;
  const count = single ? scoreWord(last, index, inName) : scoreWords(words, index, inName);
  const total = options.accepts === undefined ? count : keepAccepted(index, count, options.accepts);
  const exactly = (path: number): number => {
    const score = (single && inName.exactScore(path)) || (index.scores[path] ?? 0);
    return score + caseBonus(typed, index.paths[path] ?? "");
  };
  return { paths: bestOf({ index, count: total, wanted: options.wanted, exactly }), total };
}

/** For words that lie there exactly as typed; who types capitals means them. */
function caseBonus(words: readonly string[], path: string): number {
  let bonus = 0;
  for (const word of words) if (path.includes(word)) bonus += /\p{Lu}/u.test(word) ? 25 : 4;
  return bonus;
}

/** Fills `scores` and `found` of the index, and answers how many were found. */
function scoreWord(word: Uint16Array, index: PathIndex, inName: NameScorer): number {
  const { scores, found, size } = index;
  let count = 0;
  for (let path = 0; path < size; path++) {
    const score = inName.roughScore(path);
    scores[path] = score;
    if (score > 0) found[count++] = path;
  }
  if (count >= ENOUGH_NAMES) return count;
  const spread = new SpreadScorer(word, index);
  for (let path = 0; path < size; path++) {
    if (scores[path] !== 0) continue;
    const score = spread.score(path);
    if (score === 0) continue;
    scores[path] = score;
    found[count++] = path;
  }
  return count;
}

/** The words come last one first: that leaves the fewest paths for the others. */
function scoreWords(words: readonly Uint16Array[], index: PathIndex, inName: NameScorer): number {
  const { folderOf, scores, found, size } = index;
  for (let path = 0; path < size; path++) found[path] = path;
  let count = size;
  for (const [position, word] of words.entries()) {
    const names = position === 0 ? inName : new NameScorer(word, index.names);
    const weight = position === 0 ? LAST_WORD_IN_NAME : OTHER_WORD_IN_NAME;
    const inFolder = scoreFolders(word, index.folders);
    let kept = 0;
    for (let at = 0; at < count; at++) {
      const path = found[at] ?? 0;
      const best = Math.max(names.roughScore(path) * weight, inFolder[folderOf[path] ?? 0] ?? 0);
      if (best === 0) continue;
      scores[path] = position === 0 ? best : (scores[path] ?? 0) + best;
      found[kept++] = path;
    }
    count = kept;
  }
  return count;
}

function keepAccepted(
  { found, paths }: PathIndex,
  count: number,
  accepts: (path: string) => boolean,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const path = found[at] ?? 0;
    if (accepts(paths[path] ?? "")) found[kept++] = path;
  }
  return kept;
}

const WHOLE_FOLDER = 600;
const WHOLE_WORD = 540;
const BEGINNING_OF_FOLDER = 500;
const BEGINNING_OF_WORD = 440;
const INSIDE = 330;
const SCATTERED = 60;
const SLASH = 47;
const DIRECT_PARENT = 12;

/** How well a word fits each folder path (which end in a slash), 0 for not at all. */
function scoreFolders(word: Uint16Array, folders: TextTable): Float64Array {
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

interface Selection {
  readonly index: PathIndex;
  /** How many of `index.found` count. */
  readonly count: number;
  readonly wanted: number;
  /** A better score than the rough one in `index.scores`; only asked for those that have a chance. */
  exactly(path: number): number;
}

/** At least so many are looked at exactly, so that one page of results fits the next. */
const LEAST_FINALISTS = 1500;

/** The best of many without sorting them all; equal scores: shorter, then alphabetical. */
function bestOf(selection: Selection): string[] {
  const { index, wanted, exactly } = selection;
  const { scores } = index;
  const finalists = pickFinalists(selection);
  for (const id of finalists) scores[id] = exactly(id);
  const pathOf = (id: number) => index.paths[id] ?? "";
  finalists.sort((left, right) => {
    const byScore = (scores[right] ?? 0) - (scores[left] ?? 0);
    if (byScore !== 0) return byScore;
    const [a, b] = [pathOf(left), pathOf(right)];
    return a.length - b.length || (a < b ? -1 : 1);
  });
  return finalists.slice(0, wanted).map(pathOf);
}

function pickFinalists(selection: Selection): number[] {
  const { scores, found } = selection.index;
  const least = reachedBy(Math.max(LEAST_FINALISTS, 2 * selection.wanted), selection);
  const finalists: number[] = [];
  for (let at = 0; at < selection.count; at++) {
    const id = found[at] ?? 0;
    if ((scores[id] ?? 0) >= least) finalists.push(id);
  }
  return finalists;
}

const BUCKETS = 4096;

/** A score that at least `wanted` paths reach, and not many more: the lower edge of a bucket of scores. */
function reachedBy(wanted: number, { index: { scores, found }, count }: Selection): number {
  if (count <= wanted) return 0;
  let most = 0;
  for (let at = 0; at < count; at++) most = Math.max(most, scores[found[at] ?? 0] ?? 0);
  const sizes = new Uint32Array(BUCKETS + 1);
  const perBucket = most / BUCKETS;
  for (let at = 0; at < count; at++) {
    const bucket = Math.floor((scores[found[at] ?? 0] ?? 0) / perBucket);
    sizes[bucket] = (sizes[bucket] ?? 0) + 1;
  }
  let reached = 0;
  for (let bucket = BUCKETS; bucket > 0; bucket--) {
    reached += sizes[bucket] ?? 0;
    // One bucket more: rounding must not lose what lies on the edge.
    if (reached >= wanted) return (bucket - 1) * perBucket;
  }
  return 0;
}
