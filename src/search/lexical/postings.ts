import type { RankingSettings } from "./settings.js";
import { FIELDS } from "./tool-fields.js";
import type { WordStream } from "./word-stream.js";

/** For every term: the tools that have it, and what having it is worth. */
export interface Postings {
  /** Where the list of a term starts; the next one's start ends it. */
  readonly starts: Int32Array;
  readonly tools: Int32Array;
  /** How strongly the tool has the term, from 0 to 1. */
  readonly strengths: Float32Array;
  /** How rare a term is. */
  readonly rarities: Float32Array;
}

export interface PostingsSource {
  readonly stream: WordStream;
  readonly toolCount: number;
  readonly termCount: number;
  readonly settings: RankingSettings;
}

export function makePostings(source: PostingsSource): Postings {
  const { stream, toolCount, termCount, settings } = source;
  const fieldCount = FIELDS.length;
  const averages = averageLengths(stream, toolCount);
  const amounts = new Float64Array(termCount);
  const touched: number[] = [];
  const rows = new RowCollector();
  const counts = new Int32Array(termCount + 1);
  const add = (term: number, amount: number) => {
    if (amounts[term] === 0) touched.push(term);
    amounts[term] = (amounts[term] ?? 0) + amount;
  };
  let from = 0;
  for (let tool = 0; tool < toolCount; tool += 1) {
    for (let field = 0; field < fieldCount; field += 1) {
      const to = stream.ends[tool * fieldCount + field] ?? from;
      const penalty = settings.fieldLengthPenalties[field] ?? 0;
      const weight = settings.fieldWeights[field] ?? 0;
      const amount = weight / (1 - penalty + (penalty * (to - from)) / (averages[field] ?? 1));
      for (let at = from; at < to; at += 1) {
        const stored = stream.terms[at] ?? 0;
        const term = stored < 0 ? ~stored : stored;
        add(term, amount);
      }
      from = to;
    }
    for (const term of touched) {
      const amount = amounts[term] ?? 0;
      rows.push({ term, tool, strength: amount / (amount + settings.saturation) });
      counts[term] = (counts[term] ?? 0) + 1;
      amounts[term] = 0;
    }
    touched.length = 0;
  }
  return rows.sorted({ counts, toolCount, power: settings.rarityPower });
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

class RowCollector {
  #terms = new Int32Array(4_096);
  #tools = new Int32Array(4_096);
  #strengths = new Float32Array(4_096);
  #length = 0;

  push({ term, tool, strength }: { term: number; tool: number; strength: number }): void {
    if (this.#length === this.#terms.length) this.#grow();
    this.#terms[this.#length] = term;
    this.#tools[this.#length] = tool;
    this.#strengths[this.#length] = strength;
    this.#length += 1;
  }

  #grow(): void {
    const terms = new Int32Array(2 * this.#length);
    const tools = new Int32Array(2 * this.#length);
    const strengths = new Float32Array(2 * this.#length);
    terms.set(this.#terms);
    tools.set(this.#tools);
    strengths.set(this.#strengths);
    this.#terms = terms;
    this.#tools = tools;
    this.#strengths = strengths;
  }

  /** By term; tools stay in the order of the list. */
  sorted({ counts, toolCount, power }: { counts: Int32Array; toolCount: number; power: number }): Postings {
    const termCount = counts.length - 1;
    const starts = new Int32Array(counts.length);
    const rarities = new Float32Array(termCount);
    for (let term = 0; term < termCount; term += 1) {
      const having = counts[term] ?? 0;
      starts[term + 1] = (starts[term] ?? 0) + having;
      rarities[term] = Math.log(1 + (toolCount - having + 0.5) / (having + 0.5)) ** power;
    }
    const next = starts.slice();
    const tools = new Int32Array(this.#length);
    const strengths = new Float32Array(this.#length);
    for (let row = 0; row < this.#length; row += 1) {
      const term = this.#terms[row] ?? 0;
      const at = next[term] ?? 0;
      next[term] = at + 1;
      tools[at] = this.#tools[row] ?? 0;
      strengths[at] = this.#strengths[row] ?? 0;
    }
    return { starts, tools, strengths, rarities };
  }
}
