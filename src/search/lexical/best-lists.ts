import type { Postings } from "./postings.js";

/** Tools that have a word or what stands for it, and the best of what each of them has. */
export interface BestList {
  readonly tools: Int32Array;
  readonly values: Float32Array;
}

/** Terms that stand for one word, and what each is worth. */
export interface WeighedTerms {
  readonly terms: readonly number[];
  readonly worths: readonly number[];
}

/** Eight megabytes at most. */
const MAX_REMEMBERED_TOOLS = 1_000_000;

/** Puts the lists of a word and its stand-ins together. Remembers them: requests share most of their words. */
export class BestLists {
  readonly #postings: Postings;
  readonly #best: Float32Array;
  readonly #touched: Int32Array;
  readonly #remembered = new Map<string, BestList>();
  #rememberedTools = 0;

  constructor(postings: Postings, toolCount: number) {
    this.#postings = postings;
    this.#best = new Float32Array(toolCount);
    this.#touched = new Int32Array(toolCount);
  }

  /** The same stem always comes with the same terms. */
  listOf(stem: string, weighed: WeighedTerms): BestList {
    const known = this.#remembered.get(stem);
    if (known !== undefined) return known;
    const list = this.make(weighed);
    if (this.#rememberedTools + list.tools.length > MAX_REMEMBERED_TOOLS) {
      this.#remembered.clear();
      this.#rememberedTools = 0;
    }
    this.#remembered.set(stem, list);
    this.#rememberedTools += list.tools.length;
    return list;
  }

  make({ terms, worths }: WeighedTerms): BestList {
    let count = 0;
    for (let at = 0; at < terms.length; at += 1) {
      count = this.#spread({ term: terms[at] ?? 0, worth: worths[at] ?? 0, count });
    }
    const tools = this.#touched.slice(0, count);
    const values = new Float32Array(count);
    for (let at = 0; at < count; at += 1) {
      const tool = tools[at] ?? 0;
      values[at] = this.#best[tool] ?? 0;
      this.#best[tool] = 0;
    }
    return { tools, values };
  }

  /** Returns how many tools are touched now. */
  #spread({ term, worth, count }: { term: number; worth: number; count: number }): number {
    const { starts, tools, strengths } = this.#postings;
    const best = this.#best;
    const touched = this.#touched;
    let next = count;
    const end = starts[term + 1] ?? 0;
    for (let at = starts[term] ?? 0; at < end; at += 1) {
      const tool = tools[at] ?? 0;
      const value = worth * (strengths[at] ?? 0);
      const known = best[tool] ?? 0;
      if (value <= known) continue;
      best[tool] = value;
      if (known !== 0) continue;
      touched[next] = tool;
      next += 1;
    }
    return next;
  }
}
