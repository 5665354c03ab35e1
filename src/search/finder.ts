import { inTime } from "../base/deadline.js";
import { messageOf } from "../base/errno.js";
import type { WordIndex } from "./lexical/index.js";
import { rankTogether } from "./semantic/rank-together.js";
import { wishesOf } from "./semantic/read-request.js";
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
