import { isStopWord } from "./noise.js";
import { relatedTo } from "./related-words.js";
import { makeStem } from "./stem.js";

export const NO_TERM = -1;

/** A term that stands in for a word, and how well. */
export interface StandIn {
  readonly term: number;
  readonly synonym: boolean;
}

/** Words of a catalogue by number. Words with one stem share a number; stop words have none. */
export class Vocabulary {
  readonly stems: string[] = [];
  readonly #termOfStem = new Map<string, number>();
  readonly #standIns = new Map<string, readonly StandIn[]>();

  get size(): number {
    return this.stems.length;
  }

  /** NO_TERM for a stop word. Whoever adds words remembers which ones: nothing here does. */
  add(word: string): number {
    return isStopWord(word) ? NO_TERM : this.#addStem(makeStem(word));
  }

  #addStem(text: string): number {
    const known = this.#termOfStem.get(text);
    if (known !== undefined) return known;
    const term = this.stems.length;
    this.stems.push(text);
    this.#termOfStem.set(text, term);
    return term;
  }

  /** NO_TERM for a word that is in no tool. */
  find(text: string): number {
    return this.#termOfStem.get(text) ?? NO_TERM;
  }

  /** Related words that are in the catalogue. Remembered, since a table holds far more words than a catalogue. */
  standInsFor(text: string): readonly StandIn[] {
    const known = this.#standIns.get(text);
    if (known !== undefined) return known;
    const related = relatedTo(text);
    if (related === undefined) return [];
    const found: StandIn[] = [];
    for (const [other, synonym] of related) {
      const term = this.find(other);
      if (term !== NO_TERM) found.push({ term, synonym });
    }
    this.#standIns.set(text, found);
    return found;
  }
}
