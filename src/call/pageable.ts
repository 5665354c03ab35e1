import { wholeCharacters } from "./bounds.js";

/** Longer lines are folded: `read_file` shows no more than 2,000 characters of one. */
const LINE_CHARS = 1_500;
/** What they are folded to: short enough that a preview shows more than the beginning of one. */
const FOLDED_CHARS = 500;
/** Texts beyond this size are not looked into for JSON. */
const PARSEABLE_CHARS = 20_000_000;

export interface Pageable {
  readonly text: string;
  /** What was done to the text, for whoever reads it; undefined when it is as it was. */
  readonly remark?: string | undefined;
}

/**
 * A text that can be read page by page: JSON one value per line, long texts in it with their own line breaks, and no
 * line longer than a page shows.
 */
export function pageable(text: string): Pageable {
  const pretty = prettyJson(text);
  const shown = pretty ?? text;
  if (!hasLongLine(shown)) {
    return pretty === undefined ? { text } : { text: pretty, remark: "as JSON, one value per line" };
  }
  const lines = shown.split("\n");
  const opened = pretty === undefined ? lines : lines.flatMap((line) => openTexts(line));
  const remark = `lines of more than ${LINE_CHARS.toLocaleString("en-US")} characters are broken`;
  return {
    text: opened.flatMap(fold).join("\n"),
    remark: pretty === undefined ? remark : `as JSON, long texts in it with their line breaks; ${remark}`,
  };
}

function prettyJson(text: string): string | undefined {
  const first = text.charCodeAt(0);
  // Only what begins like an object or a list.
  if ((first !== 123 && first !== 91) || text.length > PARSEABLE_CHARS) return undefined;
  try {
    const exact = LONG_DIGITS.test(text) && !text.includes(MARK);
    if (!exact) return JSON.stringify(JSON.parse(text), null, 2);
    const marked = text.replace(LONG_NUMBER, (token) =>
      token.startsWith('"') ? token : JSON.stringify(MARK + token),
    );
    return JSON.stringify(JSON.parse(marked), null, 2).replace(MARKED, "$1");
  } catch {
    return undefined;
  }
}

/** Numbers of more digits than JavaScript can hold, ids mostly, are carried as texts and come out as they were. */
const LONG_DIGITS = /\d{16}/;
const LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{15,}/g;
const MARK = "\ue000";
const MARKED = /"\ue000([^"]*)"/g;

function hasLongLine(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const next = end === -1 ? text.length : end;
    if (next - at > LINE_CHARS) return true;
    at = next + 1;
  }
  return false;
}

/** A long line of JSON holds a long text: its escaped line breaks become real ones. */
function openTexts(line: string): readonly string[] {
  if (line.length <= LINE_CHARS) return [line];
  return line.replace(/\\(?:n|.)/gs, (escaped) => (escaped === "\\n" ? "\n" : escaped)).split("\n");
}

function fold(line: string): readonly string[] {
  if (line.length <= LINE_CHARS) return [line];
  const pieces: string[] = [];
  for (let at = 0; at < line.length; ) {
    const piece = wholeCharacters(line.slice(at, at + FOLDED_CHARS + 1), FOLDED_CHARS);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}
