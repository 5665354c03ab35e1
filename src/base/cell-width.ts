import { eastAsianWidth } from "get-east-asian-width";

/** Made when the first text needs it: its tables take ten milliseconds to load, and most commands print nothing like it. */
let segmenter: Intl.Segmenter | undefined;
const COLOURS = /\x1b\[[\d;]*m/g;
const PLAIN = /^[\x20-\x7e]*$/;
/** Latin letters, lines and single pictures: nothing in it joins with what stands beside it. */
const UNJOINED =
  /^(?:[\x20-\x7e\u00a0-\u024f\u2010-\u2027\u2190-\u25ff]|(?![\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}])\p{Extended_Pictographic}\ufe0f?)*$/u;
const INVISIBLE = /^[\p{M}\p{Cf}\p{Cc}]+$/u;
const PICTURE = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\ufe0f\u20e3/u;

/** What a person takes for one character: a letter with its accents, a flag, a family. */
export function graphemesOf(text: string): readonly string[] {
  if (PLAIN.test(text)) return [...text];
  if (UNJOINED.test(text)) return text.match(/.\ufe0f?/gsu) ?? [];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns of a terminal that a text takes; colours take none. */
export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const grapheme of graphemesOf(text.replace(COLOURS, ""))) columns += graphemeWidth(grapheme);
  return columns;
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  if (PICTURE.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** As much of the beginning as fits, with an ellipsis where something is left out; colours end with it. */
export function cutToWidth(text: string, columns: number): string {
  if (cellWidth(text) <= columns) return text;
  let shown = "";
  let used = 0;
  for (const part of text.split(/(\x1b\[[\d;]*m)/)) {
    if (part.startsWith("\x1b")) {
      shown += part;
      continue;
    }
    for (const grapheme of graphemesOf(part)) {
      used += graphemeWidth(grapheme);
      if (used > columns - 1) return `${shown}…${text.includes("\x1b") ? "\x1b[0m" : ""}`;
      shown += grapheme;
    }
  }
  return shown;
}
