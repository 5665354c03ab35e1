import { growingFloats, growingInts } from "./growing-numbers.js";
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
  const amounts = new Float64Array(termCount);
  const touched: number[] = [];
  const rows: Rows = { terms: growingInts(), tools: growingInts(), strengths: growingFloats() };
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
        const before = amounts[term] ?? 0;
        if (before === 0) touched.push(term);
        amounts[term] = before + amount;
      }
    }
    for (const term of touched) {
      const amount = amounts[term] ?? 0;
      rows.terms.push(term);
      rows.tools.push(tool);
      rows.strengths.push(amount / (amount + settings.saturation));
      amounts[term] = 0;
    }
    touched.length = 0;
  }
  return sortedByTerm(rows, { toolCount, termCount });
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

interface Rows {
  readonly terms: ReturnType<typeof growingInts>;
  readonly tools: ReturnType<typeof growingInts>;
  readonly strengths: ReturnType<typeof growingFloats>;
}

/** Tools stay in the order of the list. */
function sortedByTerm(
  rows: Rows,
  { toolCount, termCount }: { toolCount: number; termCount: number },
): Postings {
  const terms = rows.terms.view();
  const starts = new Int32Array(termCount + 1);
  for (const term of terms) starts[term + 1] = (starts[term + 1] ?? 0) + 1;
  const rarities = new Float32Array(termCount);
  for (let term = 0; term < termCount; term += 1) {
    const having = starts[term + 1] ?? 0;
    rarities[term] = Math.log(1 + (toolCount - having + 0.5) / (having + 0.5));
    starts[term + 1] = (starts[term] ?? 0) + having;
  }
  const next = starts.slice();
  const tools = new Int32Array(terms.length);
  const strengths = new Float32Array(terms.length);
  const toolRows = rows.tools.view();
  const strengthRows = rows.strengths.view();
  for (let row = 0; row < terms.length; row += 1) {
    const term = terms[row] ?? 0;
    const at = next[term] ?? 0;
    next[term] = at + 1;
    tools[at] = toolRows[row] ?? 0;
    strengths[at] = strengthRows[row] ?? 0;
  }
  return { starts, tools, strengths, rarities };
}
