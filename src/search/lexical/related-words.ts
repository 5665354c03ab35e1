import { stem } from "./stem.js";
import { ACTIONS, COMPUTING, DAILY_LIFE, PLAIN_WORDS, TOPICS } from "./words.gen.js";

/** Stems of related words; true for those that mean much the same, false for those of the same subject. */
export type RelatedWords = ReadonlyMap<string, boolean>;

const TABLES = [
  { lines: ACTIONS, synonyms: true },
  { lines: COMPUTING, synonyms: true },
  { lines: DAILY_LIFE, synonyms: true },
  { lines: PLAIN_WORDS, synonyms: true },
  { lines: TOPICS, synonyms: false },
];

let groupsOfStem: ReadonlyMap<string, readonly Group[]> | undefined;

interface Group {
  readonly stems: readonly string[];
  readonly synonyms: boolean;
}

export function relatedTo(text: string): RelatedWords | undefined {
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
