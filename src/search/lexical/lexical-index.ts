import type { Hit, LexicalIndex, SearchableTool } from "../types.js";
import { makePostings, type Postings } from "./postings.js";
import { type QueryWord, readQuery } from "./read-query.js";
import { isStopWord } from "./noise.js";
import { stem } from "./stem.js";
import { type RankingSettings, SETTINGS } from "./settings.js";
import { synonymsOf } from "./synonyms.js";
import { NO_TERM, Vocabulary } from "./vocabulary.js";
import { FIELDS } from "./tool-fields.js";
import { topOf } from "./top.js";
import { readWords, type WordStream } from "./word-stream.js";

export interface LexicalScores {
  /** By position in the list of tools; 0 where nothing matches. */
  readonly scores: Float32Array;
  /** What a tool would get that has every word of the request as strongly as can be. */
  readonly maxPossible: number;
  /** The share of the request's meaning each tool has, from 0 to 1. */
  readonly coverage: Float32Array;
}

export function createLexicalIndex(
  tools: readonly SearchableTool[],
  options: Partial<RankingSettings> = {},
): WordIndex {
  return new WordIndex(tools, { ...SETTINGS, ...options });
}

export class WordIndex implements LexicalIndex {
  readonly size: number;
  readonly #vocabulary = new Vocabulary();
  readonly #postings: Postings;
  readonly #stream: WordStream;
  readonly #settings: RankingSettings;
  readonly #names: readonly string[];
  /** Used again by every query; nothing in a query waits, so no two meet here. */
  readonly #best: Float32Array;
  readonly #touched: Int32Array;
  readonly #slots: Int32Array;
  readonly #slotWeights: Float32Array;

  constructor(tools: readonly SearchableTool[], settings: RankingSettings) {
    this.size = tools.length;
    this.#settings = settings;
    this.#names = tools.map((tool) => tool.name.toLowerCase());
    this.#stream = readWords(tools, this.#vocabulary);
    this.#postings = makePostings({
      stream: this.#stream,
      toolCount: tools.length,
      termCount: this.#vocabulary.size,
      settings,
    });
    this.#best = new Float32Array(tools.length);
    this.#touched = new Int32Array(tools.length);
    this.#slots = new Int32Array(this.#vocabulary.size);
    this.#slotWeights = new Float32Array(this.#vocabulary.size);
  }

  search(query: string, { limit }: { readonly limit: number }): readonly Hit[] {
    const { scores } = this.scores(query);
    return topOf(scores, limit).map((index) => ({ index, score: scores[index] ?? 0 }));
  }

  scores(query: string): LexicalScores {
    const settings = this.#settings;
    const clauses = readQuery(query, settings);
    const parts = clauses.map((clause) => this.#scoreClause(clause)).filter((part) => part.best > 0);
    const scores = new Float32Array(this.size);
    const coverage = new Float32Array(this.size);
    const best = Math.max(0, ...parts.map((part) => part.best));
    const p = settings.clause;
    for (const part of parts) {
      const scale = 1 / Math.max(part.best ** settings.clauseEven, best ** settings.clauseEven * settings.clauseFloor);
      for (let index = 0; index < scores.length; index += 1) {
        const score = part.scores[index] ?? 0;
        if (score > 0) scores[index] = (scores[index] ?? 0) + (score * scale) ** p;
      }
    }
    for (let index = 0; index < scores.length; index += 1) scores[index] = (scores[index] ?? 0) ** (1 / p);
    return { scores, maxPossible: 1, coverage };
  }

  #scoreClause(clause: readonly QueryWord[]): { scores: Float32Array; best: number } {
    const scores = new Float32Array(this.size);
    const coverage = new Float32Array(this.size);
    let maxPossible = 0;
    let position = 0;
    const marked: number[] = [];
    const seen = new Set<string>();
    for (const word of clause) {
      const text = isStopWord(word.word) ? "" : stem(word.word);
      if (text === "" || seen.has(text)) continue;
      seen.add(text);
      if (!word.joined) position += 1;
      maxPossible += this.#add({ text, word, scores, coverage, position, marked });
    }
    let best = 0;
    for (let index = 0; index < scores.length; index += 1) {
      const share = maxPossible > 0 ? (coverage[index] ?? 0) / maxPossible : 0;
      scores[index] = (scores[index] ?? 0) * (1 - this.#settings.coverage + this.#settings.coverage * share);
      best = Math.max(best, scores[index] ?? 0);
    }
    best = Math.max(best, this.#refine(scores));
    for (const term of marked) this.#slots[term] = 0;
    return { scores, best };
  }

  #refine(scores: Float32Array): number {
    const { namePart, pair, refined } = this.#settings;
    const top = topOf(scores, refined);
    let best = 0;
    for (const tool of top) {
      const score = scores[tool] ?? 0;
      const raised = score * (1 + namePart * this.#nameShare(tool) + pair * this.#pairs(tool));
      scores[tool] = raised;
      best = Math.max(best, raised);
    }
    return best;
  }

  #nameShare(tool: number): number {
    const { terms, ends } = this.#stream;
    const fields = FIELDS.length;
    const from = tool === 0 ? 0 : (ends[tool * fields - 1] ?? 0);
    const to = ends[tool * fields] ?? 0;
    let all = 0;
    let matched = 0;
    for (let at = from; at < to; at += 1) {
      const term = terms[at] ?? 0;
      if (term < 0) continue;
      const rarity = this.#postings.rarities[term] ?? 0;
      all += rarity;
      if (this.#slots[term] !== 0) matched += rarity * (this.#slotWeights[term] ?? 0);
    }
    return all === 0 ? 0 : matched / all;
  }

  #pairs(tool: number): number {
    const { terms, ends } = this.#stream;
    const fields = FIELDS.length;
    let from = tool === 0 ? 0 : (ends[tool * fields - 1] ?? 0);
    let sum = 0;
    const seen = new Set<number>();
    for (let field = 0; field < 4; field += 1) {
      const to = ends[tool * fields + field] ?? from;
      let previous = 0;
      for (let at = from; at < to; at += 1) {
        const term = terms[at] ?? 0;
        if (term < 0) continue;
        const slot = this.#slots[term] ?? 0;
        if (slot !== 0 && previous !== 0 && slot !== previous && Math.abs(slot - previous) <= 2 && !seen.has(slot * 1000 + previous)) {
          seen.add(slot * 1000 + previous);
          sum += (this.#slotWeights[term] ?? 0) * (slot === previous + 1 ? 1 : 0.5);
        }
        previous = slot;
      }
      from = to;
    }
    return sum / (1 + sum);
  }

  #add(to: { text: string; word: QueryWord; scores: Float32Array; coverage: Float32Array; position: number; marked: number[] }): number {
    const { starts, tools, strengths, rarities } = this.#postings;
    const best = this.#best;
    const touched = this.#touched;
    let count = 0;
    const exact = this.#vocabulary.findStem(to.text);
    const rarity = exact === NO_TERM ? Number.POSITIVE_INFINITY : (rarities[exact] ?? 0);
    let highest = exact === NO_TERM ? 0 : rarity;
    const spread = (term: number, worth: number) => {
      const end = starts[term + 1] ?? 0;
      for (let at = starts[term] ?? 0; at < end; at += 1) {
        const tool = tools[at] ?? 0;
        const value = worth * (strengths[at] ?? 0);
        const known = best[tool] ?? 0;
        if (known === 0) touched[count++] = tool;
        if (value > known) best[tool] = value;
      }
    };
    const mark = (term: number, worth: number) => {
      if (this.#slots[term] !== 0) return;
      this.#slots[term] = to.position;
      this.#slotWeights[term] = worth;
      to.marked.push(term);
    };
    if (exact !== NO_TERM) {
      mark(exact, 1);
      spread(exact, rarity);
    }
    if (!to.word.joined && this.#settings.synonym > 0) {
      for (const other of synonymsOf(to.text) ?? []) {
        const term = this.#vocabulary.findStem(other);
        if (term === NO_TERM) continue;
        const worth = this.#settings.synonym * Math.min(rarity, rarities[term] ?? 0);
        if (exact === NO_TERM) highest = Math.max(highest, worth);
        mark(term, this.#settings.synonym);
        spread(term, worth);
      }
    }
    const { weight } = to.word;
    for (let at = 0; at < count; at += 1) {
      const tool = touched[at] ?? 0;
      to.scores[tool] = (to.scores[tool] ?? 0) + weight * (best[tool] ?? 0);
      to.coverage[tool] = (to.coverage[tool] ?? 0) + weight * (best[tool] ?? 0);
      best[tool] = 0;
    }
    return weight * highest;
  }
}
