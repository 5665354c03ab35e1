import type { Hit, LexicalIndex, SearchableTool } from "../types.js";
import { PartScorer, type PartScores } from "./part-scorer.js";
import { makePostings } from "./postings.js";
import { MAX_QUERY, readQuery } from "./read-query.js";
import { type RankingSettings, SETTINGS } from "./settings.js";
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
  /** Used again by every search; nothing in a search waits, so no two meet in them. */
  readonly #powers: Float32Array;
  readonly #partScores: Float32Array;

  constructor(tools: readonly SearchableTool[], settings: RankingSettings) {
    this.size = tools.length;
    this.#settings = settings;
    this.#powers = new Float32Array(tools.length);
    this.#partScores = new Float32Array(tools.length);
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
    const powers = this.#powers.fill(0);
    this.#ask(query, { powers, scoresOfPart: () => this.#partScores.fill(0) });
    return topOf(powers, limit).map((index) => ({ index, score: rootOf(powers[index] ?? 0) }));
  }

  /** What the words say about every tool, for whoever mixes it with something else. */
  scores(query: string): LexicalScores {
    const powers = new Float32Array(this.size);
    const found = this.#ask(query, { powers, scoresOfPart: () => new Float32Array(this.size) });
    for (let index = 0; index < powers.length; index += 1)
      if (powers[index] !== 0) powers[index] = rootOf(powers[index] as number);
    return { scores: powers, ...found };
  }

  /** Writes scores to the fourth power: roots of ten thousand would take longer than the rest. */
  #ask(request: string, { powers, scoresOfPart }: Room): Omit<LexicalScores, "scores"> {
    const query = request.slice(0, MAX_QUERY);
    const parts: PartScores[] = [];
    for (const part of readQuery(query, this.#settings)) {
      const scored = this.#scorer.score(part, scoresOfPart());
      if (scored.best === 0) continue;
      this.#addPart(powers, scored);
      parts.push(scored);
    }
    if (parts.length === 0) this.#names.scoreByLetters(query, powers);
    const named = this.#names.named(query);
    raiseAbove(powers, named);
    return { parts, named };
  }

  /** In sums of fourth powers the part a tool answers best decides, and more than one part answered still counts. */
  #addPart(powers: Float32Array, { scores, best }: PartScores): void {
    const scale = best ** -this.#settings.partEvenness;
    for (let index = 0; index < scores.length; index += 1) {
      const score = (scores[index] ?? 0) * scale;
      const square = score * score;
      powers[index] = (powers[index] ?? 0) + square * square;
    }
  }
}

/** Where the numbers of a query go; all are 0 at first. */
interface Room {
  readonly powers: Float32Array;
  readonly scoresOfPart: () => Float32Array;
}

function rootOf(power: number): number {
  return Math.sqrt(Math.sqrt(power));
}

const NOT_IN_KEYS = /[^\p{L}\p{N}]+/gu;
const MIN_LETTERS = 2;
/** Every one of them is looked for in every name. */
const MOST_WORDS = 16;

/** Finds tools by the letters of their names, whatever stands between the words. */
class ToolNames {
  readonly #keys: readonly string[];
  readonly #toolsByKey = new Map<string, number[]>();

  constructor(tools: readonly SearchableTool[]) {
    this.#keys = tools.map(({ name }) => keyOf(name));
    for (let index = 0; index < this.#keys.length; index += 1) {
      const key = this.#keys[index] ?? "";
      if (key === "") continue;
      const known = this.#toolsByKey.get(key);
      if (known === undefined) this.#toolsByKey.set(key, [index]);
      else known.push(index);
    }
  }

  /** Who gives the name of a tool wants that tool. */
  named(query: string): readonly number[] {
    return this.#toolsByKey.get(keyOf(query)) ?? [];
  }

  /** For requests no word of which is known: names that contain the request, or one of its words. */
  scoreByLetters(query: string, scores: Float32Array): void {
    const wanted = new Set([keyOf(query), ...query.split(/\s+/, MOST_WORDS).map(keyOf)]);
    for (const letters of wanted) {
      if (letters.length < MIN_LETTERS) continue;
      for (const [index, key] of this.#keys.entries()) {
        const score = key.includes(letters) ? letters.length / key.length : 0;
        if (score > (scores[index] ?? 0)) scores[index] = score;
      }
    }
  }
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(NOT_IN_KEYS, "");
}
