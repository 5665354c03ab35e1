import { inTime } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import { splitRequest, type WordIndex } from "./lexical/index.js";
import { rankTogether } from "./semantic/rank-together.js";
import { makeToolVectors, type ToolVectors } from "./semantic/tool-vectors.js";
import type { VectorCache } from "./semantic/vector-cache.js";
import type { Embedder, Hit, SearchableTool, ToolFinder } from "./types.js";

/** A model that takes longer than this hangs: the first answer, with starting its process, takes a second or two. */
const PATIENCE_MS = 15_000;

export type FinderMethod = "lexical" | "lexical+semantic";

export interface FinderOptions {
  readonly tools: readonly SearchableTool[];
  readonly lexical: WordIndex;
  /** Without one, words decide alone. */
  readonly embedder?: Embedder | undefined;
  readonly cache?: VectorCache | undefined;
  readonly onProgress?: (done: number, total: number) => void;
  readonly patienceMs?: number;
}

/**
 * Answers at once with what the words say, and with words and meaning as soon as every tool has its vector. The
 * vectors are made beside other work; when the model fails, the words go on alone and `problem` says why.
 */
export class HybridFinder implements ToolFinder {
  readonly size: number;
  /** Resolves when the vectors are there, or will never be. */
  readonly prepared: Promise<void>;
  readonly #lexical: WordIndex;
  readonly #embedder: Embedder | undefined;
  readonly #patienceMs: number;
  #vectors: ToolVectors | undefined;
  #problem: string | undefined;

  constructor(options: FinderOptions) {
    this.size = options.tools.length;
    this.#lexical = options.lexical;
    this.#embedder = options.embedder;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.prepared = this.#prepare(options);
  }

  get method(): FinderMethod {
    return this.#vectors === undefined ? "lexical" : "lexical+semantic";
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  async search(query: string, { limit }: { readonly limit: number }): Promise<readonly Hit[]> {
    const vectors = this.#vectors;
    if (vectors === undefined || this.#embedder === undefined) return this.#lexical.search(query, { limit });
    try {
      const made = await inTime(this.#embedder.embedRequest(wishesOf(query)), {
        ms: this.#patienceMs,
        otherwise: "the model gave no answer",
      });
      return rankTogether({ made, vectors, words: this.#lexical.scores(query), limit });
    } catch (error) {
      this.#giveUp(error);
      return this.#lexical.search(query, { limit });
    }
  }

  async #prepare({ tools, embedder, cache, onProgress }: FinderOptions): Promise<void> {
    if (embedder === undefined || tools.length === 0) return;
    try {
      this.#vectors = await makeToolVectors({ tools, embedder, cache, onProgress });
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#vectors = undefined;
    this.#problem = messageOf(error);
  }
}

/** Each wish is compared with many tools, so neighbours are joined when there are more. */
const MOST_WISHES = 8;
const FEWEST_WORDS = 3;
const LONGEST_REQUEST = 2_000;

/** Who asks for several things in one breath wants a tool for each of them. One wish is the request as it is. */
function wishesOf(query: string): readonly string[] {
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
