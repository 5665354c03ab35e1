import { isStopWord } from "./noise.js";
import { stem } from "./stem.js";

export const NO_TERM = -1;

/** Words of a catalogue by number. Words with one stem share a number; stop words have none. */
export class Vocabulary {
  readonly terms: string[] = [];
  readonly #termOfStem = new Map<string, number>();
  readonly #termOfWord = new Map<string, number>();

  get size(): number {
    return this.terms.length;
  }

  add(word: string): number {
    const known = this.#termOfWord.get(word);
    if (known !== undefined) return known;
    const term = isStopWord(word) ? NO_TERM : this.addStem(stem(word));
    this.#termOfWord.set(word, term);
    return term;
  }

  addStem(text: string): number {
    const known = this.#termOfStem.get(text);
    if (known !== undefined) return known;
    const term = this.terms.length;
    this.terms.push(text);
    this.#termOfStem.set(text, term);
    return term;
  }

  /** NO_TERM for a word that is in no tool. */
  find(word: string): number {
    return this.#termOfWord.get(word) ?? this.findStem(isStopWord(word) ? "" : stem(word));
  }

  findStem(text: string): number {
    return this.#termOfStem.get(text) ?? NO_TERM;
  }
}
