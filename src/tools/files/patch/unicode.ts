import { RewrittenText } from "./rewritten-text.js";

const TYPOGRAPHIC: ReadonlyMap<string, string> = new Map([
  ..."‘’‚‛′".split("").map((quote) => [quote, "'"] as const),
  ..."“”„‟″«»".split("").map((quote) => [quote, '"'] as const),
  ..."‐‑‒–—―−".split("").map((dash) => [dash, "-"] as const),
  ["…", "..."],
  ["\u00a0", " "],
  ["\u2007", " "],
  ["\u202f", " "],
  ["\u2009", " "],
  ["\u200b", ""],
  ["\ufeff", ""],
]);

// A letter with its combining marks counts as one, so that both spellings of "é" agree.
const SPECIAL = new RegExp(`[${[...TYPOGRAPHIC.keys()].join("")}]|\\P{M}\\p{M}+`, "gu");

/** Text with typographic characters as plain ones and composed letters in one spelling. */
export function plainText(text: string): RewrittenText {
  return new RewrittenText(text, SPECIAL, (piece) => TYPOGRAPHIC.get(piece) ?? piece.normalize("NFC"));
}
