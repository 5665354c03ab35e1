import type { Hit, LexicalIndex, SearchableTool } from "../types.js";
import { PartScorer, type PartScores } from "./part-scorer.js";
import { makePostings } from "./postings.js";
import { MAX_QUERY, readQuery } from "./read-query.js";
import { type RankingSettings, SETTINGS } from "./settings.js";
import { ToolNames } from "./tool-names.js";
import { raiseAbove, topOf } from "./top.js";
import { Vocabulary } from "./vocabulary.js";
import { readWords } from "./word-stream.js";

export interface LexicalScores {
  /** By position in the list of tools; 0 where nothing matches. */
  readonly scores: Float32Array;
  /** The wishes the request was cut into, and what each says alone; those that match nothing are left out. */
  readonly parts: readonly PartScores[];
  /** The request is the name of these tools, however it is spelled. They have the highest scores. */
  readonly named: readonly number[];
}

export function createLexicalIndex(
  tools: readonly SearchableTool[],
  settings: Partial<RankingSettings> = {},
): WordIndex {
  return new WordIndex(tools, { ...SETTINGS, ...settings });
}

export class WordIndex implements LexicalIndex {
  readonly size: number;
  readonly #settings: RankingSettings;
  readonly #names: ToolNames;
  readonly #scorer: PartScorer;

  constructor(tools: readonly SearchableTool[], settings: RankingSettings) {
    this.size = tools.length;
    this.#settings = settings;
    this.#names = new ToolNames(tools);
    const vocabulary = new Vocabulary();
    const stream = readWords(tools, vocabulary);
    const postings = makePostings({
      stream,
      toolCount: tools.length,
      termCount: vocabulary.size,
      settings,
    });
    this.#scorer = new PartScorer({ toolCount: tools.length, vocabulary, stream, postings, settings });
  }

  search(query: string, { limit }: { readonly limit: number }): readonly Hit[] {
    const { powers } = this.#ask(query);
    return topOf(powers, limit).map((index) => ({ index, score: rootOf(powers[index] ?? 0) }));
  }

  /** What the words say about every tool, for whoever mixes it with something else. */
  scores(query: string): LexicalScores {
    const { powers, ...rest } = this.#ask(query);
    return { scores: powers.map(rootOf), ...rest };
  }

  /** Scores to the fourth power: roots of ten thousand would take longer than the rest. */
  #ask(request: string): Omit<LexicalScores, "scores"> & { readonly powers: Float32Array } {
    const query = request.slice(0, MAX_QUERY);
    const parts: PartScores[] = [];
    for (const part of readQuery(query, this.#settings)) {
      const scored = this.#scorer.score(part);
      if (scored.best > 0) parts.push(scored);
    }
    const powers = this.#together(parts);
    if (parts.length === 0) this.#names.scoreByLetters(query, powers);
    const named = this.#names.named(query);
    raiseAbove(powers, named);
    return { powers, parts, named };
  }

  /** In sums of fourth powers the part a tool answers best decides, and more than one part answered still counts. */
  #together(parts: readonly PartScores[]): Float32Array {
    const together = new Float32Array(this.size);
    for (const { scores, best } of parts) {
      const scale = best ** -this.#settings.partEvenness;
      for (let index = 0; index < scores.length; index += 1) {
        const score = (scores[index] ?? 0) * scale;
        const square = score * score;
        together[index] = (together[index] ?? 0) + square * square;
      }
    }
    return together;
  }
}

function rootOf(power: number): number {
  return Math.sqrt(Math.sqrt(power));
}
