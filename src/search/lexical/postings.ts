import type { RankingSettings } from "./settings.js";
import { FIELDS } from "./tool-fields.js";
import type { WordStream } from "./word-stream.js";

/** For every term: the tools that have it, and how much. */
export interface Postings {
  /** Where the list of a term starts; the start of the next one ends it. */
  readonly starts: Int32Array;
  readonly tools: Int32Array;
  /** How strongly the tool has the term, from 0 to 1. */
  readonly strengths: Float32Array;
  /** How rare a term is in the catalogue; always above 0. */
  readonly rarities: Float32Array;
}

export interface PostingsSource {
  readonly stream: WordStream;
  readonly toolCount: number;
  readonly termCount: number;
  readonly settings: RankingSettings;
}

/** BM25 over fields: a word counts by the field it is in and the length of that field, then it saturates. */
export function makePostings({ stream, toolCount, termCount, settings }: PostingsSource): Postings {
  const averages = averageLengths(stream, toolCount);
  const { starts, rarities } = countTools({ stream, toolCount, termCount });
  const rowCount = starts[termCount] ?? 0;
  const next = starts.slice();
  const tools = new Int32Array(rowCount);
  const amounts = new Float64Array(rowCount);
  let from = 0;
  for (let tool = 0; tool < toolCount; tool += 1) {
    for (let field = 0; field < FIELDS.length; field += 1) {
      const to = stream.ends[tool * FIELDS.length + field] ?? from;
      const penalty = settings.fieldLengthPenalties[field] ?? 0;
      const length = (to - from) / (averages[field] ?? 1);
      const amount = (settings.fieldWeights[field] ?? 0) / (1 - penalty + penalty * length);
      for (; from < to; from += 1) {
        const stored = stream.terms[from] ?? 0;
        const term = stored < 0 ? ~stored : stored;
        const end = next[term] ?? 0;
        const last = end - 1;
        // Tools come in order, so a list that has this one has it last.
        if (last >= (starts[term] ?? 0) && tools[last] === tool) {
          amounts[last] = (amounts[last] ?? 0) + amount;
        } else {
          tools[end] = tool;
          amounts[end] = amount;
          next[term] = end + 1;
        }
      }
    }
  }
  return { starts, tools, strengths: saturated(amounts, settings.saturation), rarities };
}

/** How many tools have each term. */
function countTools({ stream, toolCount, termCount }: Omit<PostingsSource, "settings">) {
  const starts = new Int32Array(termCount + 1);
  const lastTools = new Int32Array(termCount).fill(-1);
  let from = 0;
  for (let tool = 0; tool < toolCount; tool += 1) {
    const to = stream.ends[(tool + 1) * FIELDS.length - 1] ?? from;
    for (; from < to; from += 1) {
      const stored = stream.terms[from] ?? 0;
      const term = stored < 0 ? ~stored : stored;
      if (lastTools[term] === tool) continue;
      lastTools[term] = tool;
      starts[term + 1] = (starts[term + 1] ?? 0) + 1;
    }
  }
  const rarities = new Float32Array(termCount);
  for (let term = 0; term < termCount; term += 1) {
    const having = starts[term + 1] ?? 0;
    rarities[term] = Math.log(1 + (toolCount - having + 0.5) / (having + 0.5));
    starts[term + 1] = (starts[term] ?? 0) + having;
  }
  return { starts, rarities };
}

function saturated(amounts: Float64Array, saturation: number): Float32Array {
  const strengths = new Float32Array(amounts.length);
  for (let row = 0; row < amounts.length; row += 1) {
    const amount = amounts[row] ?? 0;
    strengths[row] = amount / (amount + saturation);
  }
  return strengths;
}

/** At least one, so that an empty field divides nothing by nothing. */
function averageLengths({ ends }: WordStream, toolCount: number): Float64Array {
  const sums = new Float64Array(FIELDS.length);
  let from = 0;
  for (let at = 0; at < ends.length; at += 1) {
    const to = ends[at] ?? from;
    const field = at % FIELDS.length;
    sums[field] = (sums[field] ?? 0) + to - from;
    from = to;
  }
  return sums.map((sum) => Math.max(1, sum / Math.max(1, toolCount)));
}
