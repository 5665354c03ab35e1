import { BestLists } from "./best-lists.js";
import { isStopWord } from "./noise.js";
import type { Postings } from "./postings.js";
import type { QueryPart, QueryWord } from "./read-query.js";
import type { RankingSettings } from "./settings.js";
import { stem } from "./stem.js";
import { FIELDS } from "./tool-fields.js";
import { topOf } from "./top.js";
import { NO_TERM, type Vocabulary } from "./vocabulary.js";
import type { WordStream } from "./word-stream.js";

/** What the words of one part of a request say about every tool. */
export interface PartScores {
  readonly text: string;
  /** By position in the list of tools; 0 where nothing matches. */
  readonly scores: Float32Array;
  readonly best: number;
}

export interface ScorerSource {
  readonly toolCount: number;
  readonly vocabulary: Vocabulary;
  readonly stream: WordStream;
  readonly postings: Postings;
  readonly settings: RankingSettings;
}

/** Parameter texts and what follows are too long for neighbours to mean something. */
const PAIR_FIELDS = FIELDS.indexOf("parameterNames") + 1;

const MIN_HALF = 3;
const EVERYWHERE_SHARE = 0.2;
const FEW_TOOLS = 40;

/** Its work arrays are used again by every query; nothing in a query waits, so no two meet in them. */
export class PartScorer {
  readonly #source: ScorerSource;
  readonly #bestLists: BestLists;
  /** What stands for the word in hand, and what each is worth. */
  readonly #terms: number[] = [];
  readonly #worths: number[] = [];
  /** They were guessed from its letters, which a stem does not tell. */
  #isGuess = false;
  /** Place in the request of the word a term stands for, by term; 0 for none. */
  readonly #places: Int32Array;
  readonly #nearness: Float32Array;
  readonly #marked: number[] = [];
  readonly #everywhere: number;
  #nearWords: NearWords | undefined;

  constructor(source: ScorerSource) {
    this.#source = source;
    this.#everywhere = Math.max(FEW_TOOLS, EVERYWHERE_SHARE * source.toolCount);
    this.#bestLists = new BestLists(source.postings, source.toolCount);
    this.#places = new Int32Array(source.vocabulary.size);
    this.#nearness = new Float32Array(source.vocabulary.size);
  }

  /** Writes into the given scores, which are all 0. */
  score({ text, words }: QueryPart, scores: Float32Array): PartScores {
    let place = 0;
    for (const word of words) {
      if (!word.joined) place += 1;
      this.#matchWord(word, place);
      this.#addTo(scores, word);
    }
    const best = this.#refine(scores);
    for (const term of this.#marked) this.#places[term] = 0;
    this.#marked.length = 0;
    return { text, scores, best };
  }

  #matchWord(word: QueryWord, place: number): void {
    const { vocabulary, postings, settings } = this.#source;
    const exact = vocabulary.find(word.stem);
    const rarity = exact === NO_TERM ? Number.POSITIVE_INFINITY : (postings.rarities[exact] ?? 0);
    if (exact !== NO_TERM) this.#match({ term: exact, worth: rarity, nearness: 1, place });
    if (word.joined || (exact !== NO_TERM && this.#isEverywhere(exact))) return;
    for (const { term, synonym } of vocabulary.standInsFor(word.stem)) {
      if (this.#isEverywhere(term)) continue;
      // A rare word must not make its common synonyms rare, nor the other way round.
      const worth = Math.min(rarity, postings.rarities[term] ?? 0);
      if (synonym) this.#match({ term, worth: settings.synonym * worth, nearness: settings.synonym, place });
      else this.#take(term, settings.topic * worth);
    }
    if (exact === NO_TERM) this.#matchNear(word);
  }

  /** What a large part of the catalogue has tells nothing apart, and walking through it takes time. */
  #isEverywhere(term: number): boolean {
    const { starts } = this.#source.postings;
    return (starts[term + 1] ?? 0) - (starts[term] ?? 0) > this.#everywhere;
  }

  #match({
    term,
    worth,
    nearness,
    place,
  }: {
    term: number;
    worth: number;
    nearness: number;
    place: number;
  }): void {
    this.#take(term, worth);
    if (this.#places[term] !== 0) return;
    this.#places[term] = place;
    this.#nearness[term] = nearness;
    this.#marked.push(term);
  }

  /** A word that is in no tool may be two words written as one, or misspelt. */
  #matchNear({ word, stem: text }: QueryWord): void {
    const { vocabulary, postings, settings } = this.#source;
    const halves = this.#halvesOf(word);
    if (halves.length === 0 && this.#terms.length > 0) return;
    this.#isGuess = true;
    this.#nearWords ??= new NearWords(vocabulary.stems);
    for (const near of halves.length > 0 ? halves : this.#nearWords.oneSlipFrom(text)) {
      const term = vocabulary.find(near);
      if (term !== NO_TERM) this.#take(term, settings.slip * (postings.rarities[term] ?? 0));
    }
  }

  #halvesOf(word: string): readonly string[] {
    const { vocabulary } = this.#source;
    const isKnown = (half: string) => vocabulary.find(half) !== NO_TERM || isStopWord(half);
    for (let at = MIN_HALF; at <= word.length - MIN_HALF; at += 1) {
      const halves = [stem(word.slice(0, at)), stem(word.slice(at))];
      if (halves.every(isKnown)) return halves;
    }
    return [];
  }

  #take(term: number, worth: number): void {
    this.#terms.push(term);
    this.#worths.push(worth);
  }

  #addTo(scores: Float32Array, { stem: text, weight }: QueryWord): void {
    const terms = this.#terms;
    const worths = this.#worths;
    if (terms.length === 1) this.#addOne(scores, weight);
    else if (terms.length > 1) this.#addBest(scores, { text, weight });
    terms.length = 0;
    worths.length = 0;
    this.#isGuess = false;
  }

  /** Where one term stands for a word there is no best to find. Rounded as it would be in a list of the best. */
  #addOne(scores: Float32Array, weight: number): void {
    const { starts, tools, strengths } = this.#source.postings;
    const term = this.#terms[0] ?? 0;
    const worth = this.#worths[0] ?? 0;
    const end = starts[term + 1] ?? 0;
    for (let at = starts[term] ?? 0; at < end; at += 1) {
      const tool = tools[at] ?? 0;
      scores[tool] = (scores[tool] ?? 0) + weight * Math.fround(worth * (strengths[at] ?? 0));
    }
  }

  #addBest(scores: Float32Array, { text, weight }: { text: string; weight: number }): void {
    const weighed = { terms: this.#terms, worths: this.#worths };
    const { tools, values } = this.#isGuess
      ? this.#bestLists.make(weighed)
      : this.#bestLists.listOf(text, weighed);
    for (let at = 0; at < tools.length; at += 1) {
      const tool = tools[at] ?? 0;
      scores[tool] = (scores[tool] ?? 0) + weight * (values[at] ?? 0);
    }
  }

  /** Raises the best tools by the neighbours they share with the request, and returns the highest score. */
  #refine(scores: Float32Array): number {
    const { pair, refined } = this.#source.settings;
    let best = 0;
    for (const tool of topOf(scores, refined)) {
      const raised = (scores[tool] ?? 0) * (1 + pair * this.#sharedPairs(tool));
      scores[tool] = raised;
      if (raised > best) best = raised;
    }
    return best;
  }

  /** From 0 to 1: words that stand side by side in the request and in the tool. */
  #sharedPairs(tool: number): number {
    const { terms, ends } = this.#source.stream;
    let from = tool === 0 ? 0 : (ends[tool * FIELDS.length - 1] ?? 0);
    let sum = 0;
    const seen: number[] = [];
    for (let field = 0; field < PAIR_FIELDS; field += 1) {
      const to = ends[tool * FIELDS.length + field] ?? from;
      let previous = 0;
      for (; from < to; from += 1) {
        const term = terms[from] ?? 0;
        if (term < 0) continue;
        const place = this.#places[term] ?? 0;
        const step = place - previous;
        if (place !== 0 && previous !== 0 && step !== 0 && step >= -2 && step <= 2) {
          const pair = place * 4_096 + previous;
          if (!seen.includes(pair)) {
            seen.push(pair);
            sum += (this.#nearness[term] ?? 0) * (step === 1 ? 1 : 0.5);
          }
        }
        previous = place;
      }
    }
    return sum / (1 + sum);
  }
}

const MIN_LENGTH = 5;

/** Finds words of a catalogue for words of a request that are not in it. Made when first needed. */
class NearWords {
  /** By first letter and length: a slip of the finger is rarely in the first letter. */
  readonly #buckets = new Map<string, string[]>();

  constructor(words: readonly string[]) {
    for (const word of words) {
      if (word.length < MIN_LENGTH - 1) continue;
      const key = bucket(word, word.length);
      const list = this.#buckets.get(key);
      if (list === undefined) this.#buckets.set(key, [word]);
      else list.push(word);
    }
  }

  /** Words one letter more, less, other or swapped away. */
  oneSlipFrom(word: string): readonly string[] {
    if (word.length < MIN_LENGTH) return [];
    const found: string[] = [];
    for (const length of [word.length, word.length - 1, word.length + 1]) {
      for (const candidate of this.#buckets.get(bucket(word, length)) ?? []) {
        if (isOneSlip(word, candidate)) found.push(candidate);
      }
    }
    return found;
  }
}

function bucket(word: string, length: number): string {
  return `${word.charAt(0)}${length}`;
}

function isOneSlip(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end))
    end += 1;
  const leftA = a.length - start - end;
  const leftB = b.length - start - end;
  if (leftA <= 1 && leftB <= 1) return true;
  return leftA === 2 && leftB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}
