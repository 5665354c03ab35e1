import { meaningOf } from "./noise.js";
import type { RankingSettings } from "./settings.js";
import { splitWords } from "./split-words.js";

/** One word of a request. */
export interface QueryWord {
  readonly word: string;
  /** How much it tells about the tool that is wanted, from 0 to 1. */
  readonly weight: number;
  /** All of a word whose parts are there too, or two neighbours written as one. */
  readonly joined: boolean;
}

const MAX_QUERY = 4_000;

export function readQuery(query: string, settings: RankingSettings): readonly (readonly QueryWord[])[] {
  return clausesOf(query.slice(0, MAX_QUERY)).map((clause) => readClause(clause, settings));
}

const CLAUSE_END =
  /[.!?;\n]+(?=\s|$)|,?\s+(?:and|but)?\s*(?:then|also|additionally|afterwards|finally|after that)\b|,\s+(?:and|then)\s/gi;

function clausesOf(query: string): string[] {
  return query
    .replace(/\b(\d+)\.(?=\d)/g, "$1 ")
    .split(CLAUSE_END)
    .filter((clause) => clause !== undefined && /[\p{L}\p{N}]/u.test(clause));
}

function readClause(clause: string, settings: RankingSettings): readonly QueryWord[] {
  const words: QueryWord[] = [];
  let previous = "";
  splitWords(clause, {
    word(word) {
      if (previous !== "") words.push({ word: previous + word, weight: settings.joined, joined: true });
      words.push({ word, weight: weightOf(word, settings), joined: false });
      previous = word;
    },
    joined(word) {
      words.push({ word, weight: 1, joined: true });
    },
  });
  return words;
}

function weightOf(word: string, settings: RankingSettings): number {
  const code = word.charCodeAt(0);
  if (code >= 48 && code <= 57) return settings.number;
  return meaningOf(word, settings);
}
