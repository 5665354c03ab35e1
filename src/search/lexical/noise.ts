import { COMMON_WORDS, EVERYDAY_WORDS, POLITE_WORDS, STOP_WORDS } from "./words.gen.js";

/** Words that never tell one tool from another. */
const STOP = words(STOP_WORDS);

/** Said around a wish, never part of it. */
const POLITE = words(POLITE_WORDS);

/** Said around many wishes; now and then it is one. */
const COMMON = words(COMMON_WORDS);

/** Frequent in every kind of talk, so that a match says little even where a catalogue has the word but once. */
const EVERYDAY = words(EVERYDAY_WORDS);

export interface NoiseWeights {
  readonly everyday: number;
  readonly polite: number;
  readonly common: number;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

export function isStopWord(word: string): boolean {
  return STOP.has(word);
}

/** How much a word of a request says about the tool that is wanted, from 0 to 1, whatever the catalogue. */
export function meaningOf(word: string, weights: NoiseWeights): number {
  if (POLITE.has(word)) return weights.polite;
  if (COMMON.has(word)) return weights.common;
  return EVERYDAY.has(word) ? weights.everyday : 1;
}
