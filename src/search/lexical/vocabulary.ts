import { isStopWord } from "./noise.js";
import { makeStem, stem } from "./stem.js";
import { ACTIONS, COMPUTING, DAILY_LIFE, TOPICS } from "./words.gen.js";

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

/** Stems of related words; true for those that mean much the same, false for those of the same subject. */
type RelatedWords = ReadonlyMap<string, boolean>;

const TABLES = [
  { lines: ACTIONS, synonyms: true },
  { lines: COMPUTING, synonyms: true },
  { lines: DAILY_LIFE, synonyms: true },
  { lines: TOPICS, synonyms: false },
];

let groupsOfStem: ReadonlyMap<string, readonly Group[]> | undefined;

interface Group {
  readonly stems: readonly string[];
  readonly synonyms: boolean;
}

function relatedTo(text: string): RelatedWords | undefined {
  groupsOfStem ??= readTables();
  const groups = groupsOfStem.get(text);
  if (groups === undefined) return undefined;
  const related = new Map<string, boolean>();
  // Groups of synonyms come first, so that a word of both kinds counts as a synonym.
  for (const { stems, synonyms } of groups) {
    for (const other of stems) if (other !== text && !related.has(other)) related.set(other, synonyms);
  }
  return related;
}

function readTables(): ReadonlyMap<string, readonly Group[]> {
  const groups = new Map<string, Group[]>();
  for (const { lines, synonyms } of TABLES) {
    for (const line of lines.trim().split("\n")) {
      const group = { stems: [...new Set(line.split(" ").map(stem))], synonyms };
      for (const text of group.stems) {
        const known = groups.get(text);
        if (known === undefined) groups.set(text, [group]);
        else known.push(group);
      }
    }
  }
  return groups;
}
