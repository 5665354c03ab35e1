import type { LexicalScores } from "../lexical/index.js";
import { raiseAbove, topOf } from "../lexical/top.js";
import type { Hit } from "../types.js";
import type { ToolVectors } from "./tool-vectors.js";

/** Measured over several catalogues (docs/tool-search-ranking.md). */
const WHOLE_WEIGHT = 0.2;
const WISH_WEIGHT = 0.8;
/** Wishes read together colour each other, words do not: with every further wish words count more. */
const WORDS_WEIGHT_PER_WISH = 0.05;
const MOST_FURTHER_WISHES = 4;

/** Below both of these a tool is no answer to any part. */
const LIKELY_BY_MEANING = 1.5;
const LIKELY_BY_WORDS = 2;

/** What one judge of meaning says: by the table of word vectors, or by the model. */
export interface Meaning {
  readonly judge: "table" | "model";
  /** Of the whole request, then of each wish when there are several. */
  readonly made: readonly Float32Array[];
  readonly vectors: ToolVectors;
  /** Beside the other judges of meaning. */
  readonly weight: number;
}

/**
 * Words and meaning speak different scales. Each is measured in deviations from its own mean over the whole
 * catalogue: a word match that few tools have then counts much, a likeness that all share counts nothing. Of the
 * wishes in a request the one that suits a tool best speaks for it.
 */
export function rankTogether(options: {
  readonly meanings: readonly Meaning[];
  readonly words: LexicalScores;
  readonly wordsWeight: number;
  readonly limit: number;
}): readonly Hit[] {
  const { meanings } = options;
  const words = standardised(options.words.scores);
  const wishes = Math.max(0, (meanings[0]?.made.length ?? 1) - 2);
  const wordsWeight = options.wordsWeight + Math.min(MOST_FURTHER_WISHES, wishes) * WORDS_WEIGHT_PER_WISH;
  const marks = meanings.map((meaning) => marksOf(meaning, words));
  const scores = words.map((mark) => wordsWeight * mark);
  for (const [at, { weight }] of meanings.entries()) {
    const given = marks[at] as Float32Array;
    for (let index = 0; index < scores.length; index += 1)
      scores[index] = (scores[index] as number) + weight * (given[index] as number);
  }
  let lowest = 0;
  for (const score of scores) if (score < lowest) lowest = score;
  // Above zero throughout: the least suited tool is still an answer when there is room for it.
  for (let index = 0; index < scores.length; index += 1)
    scores[index] = (scores[index] as number) - lowest + 1;
  raiseAbove(scores, options.words.named);
  return topOf(scores, options.limit).map((index) => ({
    index,
    score: scores[index] ?? 0,
    marks: {
      words: words[index] ?? 0,
      ...Object.fromEntries(meanings.map(({ judge }, at) => [judge, marks[at]?.[index] ?? 0])),
    },
  }));
}

function marksOf({ made, vectors }: Meaning, words: Float32Array): Float32Array {
  const [request = new Float32Array(0), ...parts] = made;
  const whole = standardised(vectors.similarities(request));
  if (parts.length === 0) return whole;
  const best = bestOfParts({ parts, vectors, whole, words });
  for (let index = 0; index < best.length; index += 1)
    best[index] = WHOLE_WEIGHT * (whole[index] as number) + WISH_WEIGHT * (best[index] as number);
  return best;
}

function bestOfParts(options: {
  readonly parts: readonly Float32Array[];
  readonly vectors: ToolVectors;
  readonly whole: Float32Array;
  readonly words: Float32Array;
}): Float32Array {
  const { parts, vectors, whole, words } = options;
  const marks = parts.map((part) => standardised(vectors.similarities(part)));
  const best = whole.slice();
  for (let index = 0; index < best.length; index += 1) {
    if ((whole[index] as number) < LIKELY_BY_MEANING && (words[index] as number) < LIKELY_BY_WORDS) continue;
    let highest = Number.NEGATIVE_INFINITY;
    for (const mark of marks) highest = Math.max(highest, mark[index] as number);
    best[index] = highest;
  }
  return best;
}

/** In place. */
function standardised(values: Float32Array): Float32Array {
  let sum = 0;
  let squares = 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    sum += value;
    squares += value * value;
  }
  const average = sum / values.length;
  const scale = 1 / (Math.sqrt(Math.max(0, squares / values.length - average * average)) || 1);
  for (let index = 0; index < values.length; index += 1)
    values[index] = ((values[index] as number) - average) * scale;
  return values;
}
