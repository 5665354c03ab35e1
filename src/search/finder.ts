import { inTime } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import { inSlices } from "../base/slices.js";
import { englishWordsOf, looksForeign } from "./foreign/to-english.js";
import { splitRequest, type WordIndex } from "./lexical/index.js";
import { type Meaning, rankTogether } from "./semantic/rank-together.js";
import { makeToolVectors, ToolVectors } from "./semantic/tool-vectors.js";
import type { VectorCache } from "./semantic/vector-cache.js";
import { openTokenTable, type TokenTable } from "./table/token-table.js";
import { type ToolTexts, toolTexts } from "./tool-texts.js";
import type { Embedder, Hit, SearchableTool, ToolFinder } from "./types.js";

/** A model that takes longer than this hangs: the first answer, with starting its process, takes a second or two. */
const PATIENCE_MS = 15_000;

/** Who decides which tools suit a request: the words, the table of word vectors, the model. */
export type Judge = "words" | "table" | "model";

/** What words count for beside the judges of meaning, who share one point (docs/tool-search-ranking.md). */
const WORDS_WEIGHT = { table: 0.6, model: 0.5 } as const;
const TABLE_WEIGHT_BESIDE_MODEL = 0.5;
const LEAST_FAMILIARITY = 0.3;
/** A search waits so long for the table: the tools of most sessions are read in less. */
const TABLE_PATIENCE_MS = 120;

export interface FinderOptions {
  readonly tools: readonly SearchableTool[];
  readonly lexical: WordIndex;
  /** Left out: the one that comes with the package; `false`: none. */
  readonly table?: TokenTable | false | undefined;
  /** Without one, words and table decide. */
  readonly embedder?: Embedder | undefined;
  readonly cache?: VectorCache | undefined;
  readonly onProgress?: (done: number, total: number) => void;
  readonly patienceMs?: number;
}

/**
 * Answers at once with what the words say, with the table as soon as it has read the tools, and with the model as soon
 * as every tool has its vector. All of that is made beside other work; when a judge fails, the others go on without it
 * and `problem` says why.
 */
export class HybridFinder implements ToolFinder {
  readonly size: number;
  /** Resolves when every judge is ready, or will never be. */
  readonly prepared: Promise<void>;
  readonly #lexical: WordIndex;
  readonly #embedder: Embedder | undefined;
  readonly #patienceMs: number;
  readonly #tableRead: Promise<void>;
  #tableIsSettled = false;
  #table: { readonly table: TokenTable; readonly vectors: ToolVectors } | undefined;
  #model: ToolVectors | undefined;
  #problem: string | undefined;

  constructor(options: FinderOptions) {
    this.size = options.tools.length;
    this.#lexical = options.lexical;
    this.#embedder = options.embedder;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    const texts = toolTexts(options.tools);
    this.#tableRead = this.#prepareTable(texts, options).finally(() => {
      this.#tableIsSettled = true;
    });
    this.prepared = Promise.all([this.#tableRead, this.#prepareModel(texts, options)]).then(() => undefined);
  }

  get judges(): readonly Judge[] {
    return [
      "words",
      ...(this.#table === undefined ? [] : ["table" as const]),
      ...(this.#model === undefined ? [] : ["model" as const]),
    ];
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  async search(query: string, { limit }: { readonly limit: number }): Promise<readonly Hit[]> {
    if (!this.#tableIsSettled) await Promise.race([this.#tableRead, pause(TABLE_PATIENCE_MS)]);
    const asked = this.#inEnglishToo(query);
    const wishes = wishesOf(asked);
    const words = this.#lexical.scores(asked);
    const byModel = await this.#askModel(wishes);
    const byTable = this.#askTable(wishes, {
      weight: byModel === undefined ? 1 : TABLE_WEIGHT_BESIDE_MODEL,
      isKnown: words.parts.length > 0,
    });
    const meanings = [byTable, byModel].filter((meaning) => meaning !== undefined);
    if (meanings.length === 0) return this.#lexical.search(asked, { limit });
    const wordsWeight = WORDS_WEIGHT[byModel === undefined ? "table" : "model"];
    return rankTogether({ meanings, words, wordsWeight, limit });
  }

  #inEnglishToo(query: string): string {
    // A single word may be the name of a tool.
    const isForeign =
      looksForeign(query) ||
      (/\s/.test(query.trim()) && (this.#table?.table.familiarity(query) ?? 1) < LEAST_FAMILIARITY);
    const english = isForeign ? englishWordsOf(query) : undefined;
    return english === undefined ? query : `${query} ${english}`;
  }

  /** Of words that neither it nor any tool knows it could only guess, and every tool would be an answer. */
  #askTable(
    wishes: readonly string[],
    { weight, isKnown }: { readonly weight: number; readonly isKnown: boolean },
  ): Meaning | undefined {
    if (this.#table === undefined) return undefined;
    const { table, vectors } = this.#table;
    if (!isKnown && table.familiarity(wishes.join(" ")) < LEAST_FAMILIARITY) return undefined;
    return { judge: "table", made: table.requestVectors(wishes), vectors, weight };
  }

  async #askModel(wishes: readonly string[]): Promise<Meaning | undefined> {
    const vectors = this.#model;
    if (vectors === undefined || this.#embedder === undefined) return undefined;
    try {
      const made = await inTime(this.#embedder.embedRequest(wishes), {
        ms: this.#patienceMs,
        otherwise: "the model gave no answer",
      });
      return { judge: "model", made, vectors, weight: 1 };
    } catch (error) {
      this.#model = undefined;
      this.#problem = messageOf(error);
      return undefined;
    }
  }

  async #prepareTable(texts: Promise<readonly ToolTexts[]>, { table, tools }: FinderOptions): Promise<void> {
    if (table === false || tools.length === 0) return;
    try {
      const opened = table ?? (await openTokenTable());
      const all = await texts;
      const vectors = new ToolVectors(all.length, opened.dimensions);
      await inSlices(all, (own, index) => vectors.set(index, opened.toolVector(own)));
      this.#table = { table: opened, vectors };
    } catch (error) {
      this.#problem = messageOf(error);
    }
  }

  async #prepareModel(
    texts: Promise<readonly ToolTexts[]>,
    { tools, embedder, cache, onProgress }: FinderOptions,
  ): Promise<void> {
    if (embedder === undefined || tools.length === 0) return;
    try {
      this.#model = await makeToolVectors({ texts: await texts, embedder, cache, onProgress });
    } catch (error) {
      this.#problem = messageOf(error);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Each wish is compared with many tools, so neighbours are joined when there are more. */
const MOST_WISHES = 8;
const FEWEST_WORDS = 3;
const LONGEST_REQUEST = 2_000;

/** Who asks for several things in one breath wants a tool for each of them. One wish is the request as it is. */
export function wishesOf(query: string): readonly string[] {
  const whole = query.slice(0, LONGEST_REQUEST).replace(/\s+/g, " ").trim();
  const parts = splitRequest(whole).filter((part) => part.split(/\s+/).length >= FEWEST_WORDS);
  return parts.length < 2 ? [whole] : joined(parts);
}

function joined(parts: readonly string[]): readonly string[] {
  const together = Math.ceil(parts.length / MOST_WISHES);
  if (together === 1) return parts;
  const groups: string[] = [];
  for (let from = 0; from < parts.length; from += together)
    groups.push(parts.slice(from, from + together).join(", "));
  return groups;
}
