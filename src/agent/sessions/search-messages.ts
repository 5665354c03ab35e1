import type { Database, SqlRow } from "../../store/driver.js";
import { CALLED, searchableText } from "./index-feed.js";
import type { Scope } from "./search-expression.js";
import type { SearchIndex } from "./search-index.js";
import { fold, soughtTerms, type Terms } from "./search-words.js";
import { snippetOf } from "./snippet.js";
import type { FoundMessage } from "./types.js";

/** More words than this make a search slower, not better. */
const MAX_TERMS = 16;
/** Messages that are compared; of more that match, the newest. Keeps a search for common words quick. */
const COMPARED = 300;
/** Of those that hold only some of the words, the most telling are compared. */
const SOME_COMPARED = 100;
/** Messages looked at for one word, to tell rare words from common ones. */
const COUNTED = 400;
/** What is read of a message to compare it. */
const COMPARED_CHARS = 2_000;
const SNIPPET_SOURCE_CHARS = 32_768;

export interface MessageSearch {
  readonly words: string;
  readonly scope: Scope;
  readonly limit: number;
  /** Of a conversation and those it handed work to, only the best message. */
  readonly onePerFamily?: boolean | undefined;
}

/**
 * First the messages that hold all words; where those are too few, others that hold some, rare words before common ones.
 * Within each group by how often and how close together the words stand, newer before older.
 */
export async function searchMessages(
  parts: { readonly index: SearchIndex; readonly messages: Database },
  { words, scope, limit, onePerFamily = false }: MessageSearch,
): Promise<readonly FoundMessage[]> {
  const terms = firstOf(soughtTerms(words));
  if (countOf(terms) === 0) return [];
  const { index, messages } = parts;
  await index.follow();
  const withAll = await index.newest({ terms, scope, limit: COMPARED });
  const choose = onePerFamily ? bestOfEachFamily : (found: readonly Ranked[]) => found;
  let best = choose(ranked(messages, { candidates: weighed(withAll), words, terms }));
  if (best.length < limit && countOf(terms) > 1) {
    const others = await holdingSome(index, { terms, scope, except: new Set(withAll) });
    best = choose([...best, ...ranked(messages, { candidates: others, words, terms })]);
  }
  return withSnippets(messages, { found: best.slice(0, limit), terms });
}

function bestOfEachFamily(found: readonly Ranked[]): readonly Ranked[] {
  const first = new Map<number, Ranked>();
  for (const one of found) if (!first.has(one.root)) first.set(one.root, one);
  return [...first.values()];
}

interface Candidate {
  readonly message: number;
  /** What it is worth by the words it holds. */
  readonly weight: number;
}

const weighed = (found: readonly number[]): readonly Candidate[] =>
  found.map((message) => ({ message, weight: 1 }));

/** Messages that hold some of the words, the most telling first. */
async function holdingSome(
  index: SearchIndex,
  { terms, scope, except }: { readonly terms: Terms; readonly scope: Scope; readonly except: Set<number> },
): Promise<readonly Candidate[]> {
  const weights = new Map<number, number>();
  let highest = 0;
  for (const term of eachOf(terms)) {
    const found = await index.newest({ terms: term, scope, limit: COUNTED });
    const rarity = found.length < COUNTED ? Math.log2(2 * (COUNTED / Math.max(1, found.length))) ** 2 : 1;
    highest += rarity;
    for (const message of found)
      if (!except.has(message)) weights.set(message, (weights.get(message) ?? 0) + rarity);
  }
  return [...weights]
    .map(([message, weight]) => ({ message, weight: weight / highest }))
    .sort((one, other) => other.weight - one.weight || other.message - one.message)
    .slice(0, SOME_COMPARED);
}

interface Ranked {
  readonly message: number;
  readonly root: number;
  readonly score: number;
}

function ranked(
  messages: Database,
  {
    candidates,
    words,
    terms,
  }: { readonly candidates: readonly Candidate[]; readonly words: string; readonly terms: Terms },
): Ranked[] {
  const phrase = fold(words.trim());
  const texts = new Map(
    readTexts(messages, { found: candidates, chars: COMPARED_CHARS }).map((row) => [Number(row.seq), row]),
  );
  return candidates
    .flatMap(({ message, weight }): Ranked[] => {
      const row = texts.get(message);
      if (row === undefined) return [];
      const text = fold(searchableText(row));
      const value = closeness(text, terms) + (text.includes(phrase) ? 1 : 0);
      const ofTool = row.role === "tool" ? 0.6 : 1;
      return [{ message, root: Number(row.root), score: (weight * 8 + value) * ofTool }];
    })
    .sort((one, other) => other.score - one.score || other.message - one.message);
}

/** Between 0 and 1: how much of a text is about the terms. */
function closeness(text: string, terms: Terms): number {
  const all = [...terms.words, ...terms.characters];
  const parts = all.map((term) => {
    const times = occurrences(text, term);
    return times / (times + 0.5 + text.length / 1_000);
  });
  return parts.reduce((sum, part) => sum + part, 0) / all.length;
}

/** Counting goes no further: the tenth time tells nothing new. */
const MOST_COUNTED = 8;

function occurrences(text: string, term: string): number {
  let times = 0;
  for (
    let at = text.indexOf(term);
    at >= 0 && times < MOST_COUNTED;
    at = text.indexOf(term, at + term.length)
  )
    times += 1;
  return times;
}

function withSnippets(
  messages: Database,
  { found, terms }: { readonly found: readonly Ranked[]; readonly terms: Terms },
): readonly FoundMessage[] {
  const rows = new Map(
    readTexts(messages, { found, chars: SNIPPET_SOURCE_CHARS }).map((row) => [Number(row.seq), row]),
  );
  return found.flatMap(({ message }) => {
    const row = rows.get(message);
    if (row === undefined) return [];
    return {
      session: String(row.session),
      message: String(message),
      role: row.role as FoundMessage["role"],
      snippet: snippetOf(searchableText(row), terms),
      at: Number(row.at),
    };
  });
}

function readTexts(
  messages: Database,
  { found, chars }: { readonly found: readonly { readonly message: number }[]; readonly chars: number },
): readonly SqlRow[] {
  return messages
    .prepare(
      `SELECT m.seq, m.role, m.at, c.id AS session, c.root, CAST(substr(m.text, 1, ${chars}) AS BLOB) AS text,
         ${CALLED}
       FROM json_each(?) f JOIN messages m ON m.seq = f.value JOIN conversations c ON c.seq = m.conversation`,
    )
    .all(JSON.stringify(found.map(({ message }) => message)));
}

function firstOf({ words, characters }: Terms): Terms {
  const kept = [...words].slice(0, MAX_TERMS);
  return {
    words: new Set(kept),
    characters: new Set([...characters].slice(0, MAX_TERMS - kept.length)),
  };
}

function countOf({ words, characters }: Terms): number {
  return words.size + characters.size;
}

function eachOf({ words, characters }: Terms): readonly Terms[] {
  const none = new Set<string>();
  return [
    ...[...words].map((word) => ({ words: new Set([word]), characters: none })),
    ...[...characters].map((character) => ({ words: none, characters: new Set([character]) })),
  ];
}
