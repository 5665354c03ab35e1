import type { SearchableTool } from "../types.js";
import { findWords, type RangeSink, type ReadText } from "./split-words.js";
import { FIELDS, fieldsOf } from "./tool-fields.js";
import { NO_TERM, type Vocabulary } from "./vocabulary.js";

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

const FIRST_SIZE = 1_024;
/** Makes capital English letters small and leaves small ones and digits as they are. */
const SMALL = 0x20;
const FREE = 0;

/** Finds the term of a word from its letters, in either case, where they stand in a text: a string is made of each word once. */
class WordTable {
  readonly #vocabulary: Vocabulary;
  /** Number of a word plus one, at the place its letters lead to or one of the next. */
  #slots = new Int32Array(FIRST_SIZE);
  #count = 0;
  /** By number of the word. */
  #hashes = new Int32Array(FIRST_SIZE / 2);
  #terms = new Int32Array(FIRST_SIZE / 2);
  /** Where the letters of a word start; those of the next word end it. */
  #starts = new Int32Array(FIRST_SIZE / 2 + 1);
  #letters = new Uint8Array(8 * FIRST_SIZE);
  readonly #foreign = new Map<string, number>();

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** NO_TERM for a stop word. */
  termAt({ text, bytes }: ReadText, from: number, to: number): number {
    let hash = to - from;
    for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + ((bytes[at] ?? 0) | SMALL)) | 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let entry = slots[slot] ?? FREE; entry !== FREE; entry = slots[slot] ?? FREE) {
      const word = entry - 1;
      if (this.#hashes[word] === hash && this.#isWord(word, bytes, from, to))
        return this.#terms[word] ?? NO_TERM;
      slot = (slot + 1) & mask;
    }
    return this.#add(text.slice(from, to).toLowerCase(), hash, slot);
  }

  /** The term of a word in other letters. */
  termOf(foreignWord: string): number {
    const known = this.#foreign.get(foreignWord);
    if (known !== undefined) return known;
    const term = this.#vocabulary.add(foreignWord);
    this.#foreign.set(foreignWord, term);
    return term;
  }

  #isWord(word: number, bytes: Uint8Array, from: number, to: number): boolean {
    const letters = this.#letters;
    let letter = this.#starts[word] ?? 0;
    if ((this.#starts[word + 1] ?? 0) - letter !== to - from) return false;
    for (let at = from; at < to; at += 1) {
      if (letters[letter] !== ((bytes[at] ?? 0) | SMALL)) return false;
      letter += 1;
    }
    return true;
  }

  #add(text: string, hash: number, slot: number): number {
    const term = this.#vocabulary.add(text);
    const word = this.#count;
    const start = this.#starts[word] ?? 0;
    const end = start + text.length;
    while (end > this.#letters.length) this.#letters = grown(this.#letters);
    for (let at = 0; at < text.length; at += 1) this.#letters[start + at] = text.charCodeAt(at);
    this.#starts[word + 1] = end;
    this.#hashes[word] = hash;
    this.#terms[word] = term;
    this.#slots[slot] = word + 1;
    this.#count += 1;
    if (this.#count === this.#hashes.length) this.#grow();
    return term;
  }

  /** Half of the slots stay free, so that a search for one is short. */
  #grow(): void {
    this.#hashes = grown(this.#hashes);
    this.#terms = grown(this.#terms);
    this.#starts = grown(this.#starts);
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let word = 0; word < this.#count; word += 1) {
      const hash = this.#hashes[word] ?? 0;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot] !== FREE) slot = (slot + 1) & mask;
      slots[slot] = word + 1;
    }
    this.#slots = slots;
  }
}

function grown<A extends Int32Array | Uint8Array>(numbers: A): A {
  const larger = (
    numbers instanceof Int32Array ? new Int32Array(2 * numbers.length) : new Uint8Array(2 * numbers.length)
  ) as A;
  larger.set(numbers);
  return larger;
}
