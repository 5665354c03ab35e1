import { isStopWord, meaningOf } from "./noise.js";
import type { RankingSettings } from "./settings.js";
import { splitRequest } from "./split-request.js";
import { splitWords, type WordSink } from "./split-words.js";
import { stem } from "./stem.js";

/** One word of a request. */
export interface QueryWord {
  readonly word: string;
  readonly stem: string;
  /** How much it tells about the tool that is wanted, from 0 to 1. */
  readonly weight: number;
  /** All of a word whose parts are there too, or two neighbours written as one. */
  readonly joined: boolean;
}

/** A request, or one of several wishes in it. */
export interface QueryPart {
  readonly text: string;
  /** Every stem once, in the order they came. */
  readonly words: readonly QueryWord[];
}

/** Nobody describes a tool at greater length, and the time a query takes must have an end. */
export const MAX_QUERY = 4_000;
const MAX_PARTS = 12;
const QUOTED = /"[^"]{2,200}"|(?<!\w)'[^']{2,100}'(?!\w)|“[^”]{2,200}”/g;

export function readQuery(query: string, settings: RankingSettings): readonly QueryPart[] {
  const texts = splitRequest(query);
  const kept =
    texts.length > MAX_PARTS
      ? [...texts.slice(0, MAX_PARTS - 1), texts.slice(MAX_PARTS - 1).join(" ")]
      : texts;
  return kept.map((text) => ({ text, words: new PartReader(settings).read(text) }));
}

class PartReader implements WordSink {
  readonly #settings: RankingSettings;
  readonly #words = new Map<string, QueryWord>();
  #previous = "";
  #factor = 1;

  constructor(settings: RankingSettings) {
    this.#settings = settings;
  }

  read(text: string): readonly QueryWord[] {
    let from = 0;
    for (const quoted of text.matchAll(QUOTED)) {
      splitWords(text.slice(from, quoted.index), this);
      this.#factor = this.#settings.quoted;
      splitWords(quoted[0], this);
      this.#factor = 1;
      from = quoted.index + quoted[0].length;
    }
    splitWords(text.slice(from), this);
    return [...this.#words.values()];
  }

  word(word: string): void {
    // With stop words, so that "log in" finds "login".
    if (this.#previous !== "")
      this.#add({ word: this.#previous + word, weight: this.#settings.joined, joined: true });
    this.#add({ word, weight: this.#weightOf(word), joined: false });
    this.#previous = word;
  }

  joined(word: string): void {
    this.#add({ word, weight: 1, joined: true });
  }

  #add({ word, weight, joined }: Omit<QueryWord, "stem">): void {
    if (isStopWord(word)) return;
    const text = stem(word);
    const counted = this.#factor * weight;
    const known = this.#words.get(text);
    if (known !== undefined && known.weight >= counted) return;
    this.#words.set(text, { word, stem: text, weight: counted, joined: joined && known?.joined !== false });
  }

  #weightOf(word: string): number {
    const code = word.charCodeAt(0);
    return code >= 48 && code <= 57 ? this.#settings.number : meaningOf(word, this.#settings);
  }
}
