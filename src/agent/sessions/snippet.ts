import { fold, type Terms } from "./search-words.js";

const SNIPPET_CHARS = 240;
/** Of what lies before the first word that was found. */
const LEAD_CHARS = 60;
const PIECE = /[\p{L}\p{N}\p{M}]+/gu;

/** The passage around the place where most of the words stand, in one line. */
export function snippetOf(text: string, sought: Terms): string {
  const from = start(text, bestPlace(text, sought));
  const passage = text.slice(from, from + SNIPPET_CHARS);
  const before = from > 0 ? "…" : "";
  const after = from + SNIPPET_CHARS < text.length ? "…" : "";
  return `${before}${wellFormed(passage).replace(/\s+/g, " ").trim()}${after}`;
}

/** Where a window begins that holds the most different words; the first of equals. */
function bestPlace(text: string, sought: Terms): number {
  const hits: { readonly at: number; readonly term: string }[] = [];
  for (const match of text.matchAll(PIECE)) {
    const found = soughtIn(fold(match[0]), sought);
    for (const { term, offset } of found) hits.push({ at: match.index + offset, term });
    if (hits.length > MAX_HITS) break;
  }
  let best = { at: 0, count: 0 };
  for (const [index, { at }] of hits.entries()) {
    const inWindow = new Set<string>();
    for (let next = index; next < hits.length; next += 1) {
      const hit = hits[next];
      if (hit === undefined || hit.at - at > SNIPPET_CHARS - LEAD_CHARS) break;
      inWindow.add(hit.term);
    }
    if (inWindow.size > best.count) best = { at, count: inWindow.size };
  }
  return best.at;
}

const MAX_HITS = 200;

function soughtIn(piece: string, { words, characters }: Terms): readonly { term: string; offset: number }[] {
  const hits: { term: string; offset: number }[] = [];
  for (const term of words) {
    // Pairs of unspaced scripts stand inside of what looks like one word; other words are the whole piece.
    const offset = /^[\x00-\x7f]+$/.test(term) ? (piece === term ? 0 : -1) : piece.indexOf(term);
    if (offset >= 0) hits.push({ term, offset });
  }
  for (const term of characters) {
    const offset = piece.indexOf(term);
    if (offset >= 0) hits.push({ term, offset });
  }
  return hits;
}

/** A little before the place, at the beginning of a word where there is one near. */
function start(text: string, place: number): number {
  if (place <= LEAD_CHARS) return 0;
  const early = place - LEAD_CHARS;
  const blank = text.slice(early, place).search(/\s/);
  return blank < 0 ? early : early + blank + 1;
}

/** A cut may go through a character that takes two places. */
function wellFormed(passage: string): string {
  return passage.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
