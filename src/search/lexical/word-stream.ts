import type { SearchableTool } from "../types.js";
import { findWords, type RangeSink, type ReadText } from "./split-words.js";
import { FIELDS, fieldsOf } from "./tool-fields.js";
import { NO_TERM, type Vocabulary } from "./vocabulary.js";
import { WordTable } from "./word-table.js";

/** All words of a catalogue one after the other, as terms. */
export interface WordStream {
  /** A joined spelling is stored as `~term`, so that neighbours and lengths can leave it out. */
  readonly terms: Int32Array;
  /** Where field `f` of tool `t` ends: `ends[t * FIELDS.length + f]`. It starts where the one before ends. */
  readonly ends: Int32Array;
}

export function readWords(tools: readonly SearchableTool[], vocabulary: Vocabulary): WordStream {
  const reader = new WordReader(vocabulary);
  const ends = new Int32Array(tools.length * FIELDS.length);
  let at = 0;
  for (const tool of tools) {
    for (const texts of fieldsOf(tool)) {
      for (const text of texts) findWords(text, reader);
      ends[at] = reader.terms.length;
      at += 1;
    }
  }
  return { terms: reader.terms.view().slice(), ends };
}

class WordReader implements RangeSink {
  readonly terms = new GrowingInts();
  readonly #table: WordTable;

  constructor(vocabulary: Vocabulary) {
    this.#table = new WordTable(vocabulary);
  }

  word(within: ReadText, from: number, to: number): void {
    this.#push(this.#table.termAt(within, from, to));
  }

  joined(within: ReadText, from: number, to: number): void {
    const term = this.#table.termAt(within, from, to);
    if (term !== NO_TERM) this.terms.push(~term);
  }

  foreignWord(word: string): void {
    this.#push(this.#table.termOf(word));
  }

  #push(term: number): void {
    if (term !== NO_TERM) this.terms.push(term);
  }
}

/** Whole numbers in the order they came, without a box around each. */
class GrowingInts {
  #items = new Int32Array(4_096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length] = value;
    this.#length += 1;
  }

  /** What came so far; later numbers may or may not show in it. */
  view(): Int32Array {
    return this.#items.subarray(0, this.#length);
  }
}
