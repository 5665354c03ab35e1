import { likenessOf, wordsOf } from "./likeness.js";
import { lineWindows, occurrences, type Region, type WindowTest } from "./regions.js";
import { RewrittenText } from "./rewritten-text.js";
import { similarityTo } from "./similarity.js";
import { plainText } from "./unicode.js";

/** Where a pattern is found; both texts use plain newlines. */
export type FindRegions = (text: string, pattern: string) => Region[];

export type StrategyName =
  | "exact"
  | "line_trimmed"
  | "whitespace_normalized"
  | "indentation_flexible"
  | "escape_normalized"
  | "trimmed_boundary"
  | "unicode_normalized"
  | "block_anchor"
  | "context_aware";

export const exact: FindRegions = occurrences;

/** Whole lines that agree once the blanks at both ends are dropped. */
export const lineTrimmed: FindRegions = (text, pattern) =>
  lineWindows(text, pattern, (wanted) => {
    const trimmed = wanted.map((line) => line.trim());
    return (lines, from) => trimmed.every((line, index) => line === lines[from + index]?.trim());
  });

/** Runs of blanks and tabs count as one blank; may begin and end inside a line. */
export const whitespaceNormalized: FindRegions = (text, pattern) =>
  rewrittenRegions(text, collapseBlanks(text), collapseBlanks(pattern).text);

function collapseBlanks(text: string): RewrittenText {
  return new RewrittenText(text, /[ \t]{2,}|\t/g, () => " ");
}

/** Any indentation will do; unlike line_trimmed the last line may go on behind the pattern. */
export const indentationFlexible: FindRegions = (text, pattern) => {
  const regions = rewrittenRegions(text, dropIndentation(text), dropIndentation(pattern).text);
  if (!/^[ \t]/.test(pattern)) return regions;
  // Indentation in front of the pattern stands for indentation in the file, never for nothing inside a line.
  return regions.flatMap(({ start, end }) => {
    const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
    return text.slice(lineStart, start).trim() === "" ? [{ start: lineStart, end }] : [];
  });
};

function dropIndentation(text: string): RewrittenText {
  return new RewrittenText(text, /(?<=^|\n)[ \t]+/g, () => "");
}

/** The pattern was escaped once too often: \n, \t and \r are meant as characters. */
export const escapeNormalized: FindRegions = (text, pattern) => {
  const unescaped = unescapeBlanks(pattern);
  return unescaped === pattern ? [] : occurrences(text, unescaped).filter(isWholeWords(text));
};

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\\\" };

/** A backslash that is escaped itself begins nothing. */
export function unescapeBlanks(text: string): string {
  return text.replace(/\\([ntr\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}

/** Blank lines and blanks around the pattern are dropped; the rest must fill its lines, which are found whole. */
export const trimmedBoundary: FindRegions = (text, pattern) => {
  const core = pattern.trim();
  if (core === pattern) return [];
  return occurrences(text, core).flatMap(({ start, end }) => {
    const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
    const newline = text.indexOf("\n", end);
    const lineEnd = newline === -1 ? text.length : newline;
    const fills = text.slice(lineStart, start).trim() === "" && text.slice(end, lineEnd).trim() === "";
    return fills ? [{ start: lineStart, end: lineEnd }] : [];
  });
};

/** Curly quotes, long dashes, special blanks and composed letters count as their plain forms. */
export const unicodeNormalized: FindRegions = (text, pattern) => {
  const wanted = plainText(pattern).text;
  return isAscii(text) && wanted === pattern ? [] : rewrittenRegions(text, plainText(text), wanted);
};

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}

const MIN_MIDDLE_SIMILARITY = 0.5;
/** A shorter first line ("{", "try {") begins many blocks and identifies none. */
const MIN_ANCHOR_CHARS = 6;

/** First and last line agree, and what lies between is at least half the same. */
export const blockAnchor: FindRegions = (text, pattern) =>
  lineWindows(text, pattern, (wanted) => {
    const first = wanted[0]?.trim() ?? "";
    const last = wanted.at(-1)?.trim();
    if (wanted.length < 3 || first.length < MIN_ANCHOR_CHARS) return () => false;
    const likeness = similarityTo(joinedTrimmed(wanted.slice(1, -1)));
    return (lines, from) => {
      const to = from + wanted.length - 1;
      if (lines[from]?.trim() !== first || lines[to]?.trim() !== last) return false;
      return likeness(joinedTrimmed(lines.slice(from + 1, to))) >= MIN_MIDDLE_SIMILARITY;
    };
  });

function joinedTrimmed(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join("\n");
}

/** Every line is close to its counterpart. Single lines are never matched this loosely. */
export const contextAware: FindRegions = (text, pattern) =>
  lineWindows(text, pattern, (wanted) => (wanted.length < 2 ? () => false : closeLines(wanted)));

/** Slips of the pen are tolerated in at most half of the lines. */
export function closeLines(wanted: readonly string[]): WindowTest {
  let known: { readonly lines: readonly string[]; readonly words: ReadonlySet<string> } | undefined;
  const telling = wanted.filter((line) => line.trim() !== "").length;
  return (lines, from) => {
    if (known?.lines !== lines) known = { lines, words: wordsOf(lines) };
    const { words } = known;
    let slips = 0;
    return wanted.every((sent, index) => {
      const likeness = likenessOf({ sent, found: lines[from + index] ?? "", words });
      if (likeness === "slip") slips++;
      return likeness !== "different" && slips * 2 <= telling;
    });
  };
}

function rewrittenRegions(text: string, rewritten: RewrittenText, wanted: string): Region[] {
  return occurrences(rewritten.text, wanted)
    .flatMap((region) => {
      const origin = rewritten.originOf(region);
      return origin === undefined ? [] : [origin];
    })
    .filter(isWholeWords(text));
}

/** A loose match that begins or ends inside a word ("a = 1" in "data  = 1") is another place. */
function isWholeWords(text: string): (region: Region) => boolean {
  const isWord = (at: number) => /[\p{L}\p{N}_]/u.test(text.charAt(at));
  return ({ start, end }) =>
    !(isWord(start) && start > 0 && isWord(start - 1)) && !(isWord(end) && end > 0 && isWord(end - 1));
}
