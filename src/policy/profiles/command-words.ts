import { wildcardMatches } from "../../base/wildcard.js";

/** A rule, or one simple command, as its words; quoting is undone as far as plain text allows. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let begun = false;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && /["\\$`]/.test(text[at + 1] ?? "")) {
        at += 1;
        word += text[at] ?? "";
      } else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      begun = true;
    } else if (character === "\\" && at + 1 < text.length) {
      at += 1;
      word += text[at] === "\n" ? "" : (text[at] ?? "");
      begun = true;
    } else if (/\s/.test(character)) {
      if (begun || word !== "") words.push(word);
      word = "";
      begun = false;
    } else word += character;
  }
  if (begun || word !== "") words.push(word);
  return words;
}

/** Splits a line at `;`, `&`, `|` and line ends outside of quotes: rules, and lines that nothing better can read. */
export function splitCommands(line: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  for (const [piece] of line.matchAll(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|[;&|\n]+|[\s\S]/g)) {
    if (/^[;&|\n]+$/.test(piece)) {
      parts.push(part);
      part = "";
    } else part += piece;
  }
  return [...parts, part].map((text) => text.trim()).filter((text) => text !== "");
}

/** The last segment of a program's path, in lower case: `/usr/bin/Sudo` is `sudo`. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** Whether the words are those of a pattern, in which `*` alone stands for any number of words. */
export function isSequence(pattern: readonly string[], words: readonly string[]): boolean {
  let part = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < words.length) {
    const expected = pattern[part];
    if (expected === "*") {
      star = part;
      starAt = at;
      part += 1;
    } else if (expected !== undefined && wildcardMatches(expected, words[at] ?? "")) {
      part += 1;
      at += 1;
    } else if (star !== -1) {
      part = star + 1;
      starAt += 1;
      at = starAt;
    } else return false;
  }
  while (pattern[part] === "*") part += 1;
  return part === pattern.length;
}
