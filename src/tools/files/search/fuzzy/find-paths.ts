import { foldText } from "./characters.js";
import { scoreFolders } from "./folder-score.js";
import { NameScorer } from "./name-score.js";
import type { PathIndex } from "./path-index.js";
import { bestOf } from "./select.js";
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
