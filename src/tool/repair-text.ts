import { jsonrepair } from "jsonrepair";
import { endOfString } from "./json-string.js";

export type RepairedText =
  | { readonly ok: true; readonly value: unknown; readonly note: string }
  | { readonly ok: false; readonly reason: string };

/** jsonrepair inserts into a growing string, so its time grows with the square of the text. */
const MAX_REPAIR_CHARS = 32 * 1024;
/** Raw line breaks in file contents are common enough to mend in longer texts too. */
const MAX_ESCAPE_CHARS = 2 * 1024 * 1024;

/**
 * Makes JSON of text that is almost JSON (trailing commas, single quotes, Python constants, raw control
 * characters, missing closing brackets), and refuses wherever that would mean inventing content.
 */
export function repairJsonText(text: string): RepairedText {
  const broken = parseError(text);
  const refuse = (why: string): RepairedText => ({
    ok: false,
    reason: `the arguments are not valid JSON (${broken}) and cannot be repaired without guessing: ${why}`,
  });
  const escaped = text.length > MAX_ESCAPE_CHARS ? text : escapeControlCharacters(text);
  const unescaped = escaped === text ? undefined : parse(escaped);
  if (unescaped !== undefined) return repaired(unescaped.value, "control characters escaped");
  if (text.length > MAX_REPAIR_CHARS) return refuse(`${text.length} characters are too many to mend`);
  const once = /^\s*\{\s*\\/.test(text) ? parse(unquote(text)) : undefined;
  if (once !== undefined) return repaired(once.value, "escaped quotes unescaped");
  const scan = scanLoosely(text);
  if (scan.problem !== undefined) return refuse(scan.problem);
  try {
    const value: unknown = JSON.parse(jsonrepair(text));
    if (countNulls(value) > scan.nulls) return refuse("a value is missing");
    return repaired(value, broken);
  } catch {
    return refuse("its structure is unclear");
  }
}

function repaired(value: unknown, what: string): RepairedText {
  return { ok: true, value, note: `arguments: malformed JSON repaired (${what})` };
}

function parse(text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The engine's own sentences quote the text and change between versions; the position is what helps. */
function parseError(text: string): string {
  try {
    JSON.parse(text);
    return "valid";
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (/end of JSON|Unterminated/.test(message)) return "it ends too early";
    const position = /at position \d+/.exec(message)?.[0];
    return position === undefined ? "unexpected text" : `unexpected text ${position}`;
  }
}

function unquote(text: string): string | undefined {
  const value = parse(`"${text.trim()}"`)?.value;
  return typeof value === "string" ? value : undefined;
}

/** String by string rather than by one pattern, which an open quote in megabytes of text would keep busy. */
function escapeControlCharacters(text: string): string {
  const pieces: string[] = [];
  let index = text.startsWith("\uFEFF") ? 1 : 0;
  for (;;) {
    const start = text.indexOf('"', index);
    if (start === -1) break;
    const end = endOfString(text, start);
    pieces.push(text.slice(index, start), escapeIn(text.slice(start, end)));
    index = end;
    if (index >= text.length) break;
    pieces.push('"');
    index += 1;
  }
  pieces.push(text.slice(index));
  return pieces.join("");
}

function escapeIn(string: string): string {
  const usual = string.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return usual.replace(
    /[\u0000-\u001f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const CLOSING_QUOTE: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "\u201c": "\u201d",
  "\u2018": "\u2019",
};
const NULL_WORDS: ReadonlySet<string> = new Set(["null", "None", "undefined"]);
const BOOLEAN_WORDS: ReadonlySet<string> = new Set(["true", "false", "True", "False"]);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const KEY = /^[A-Za-z_$][\w$-]*$/;
/** Sticky: the tokens of text that only resembles JSON. Strings are found by hand, for their many quotes. */
const SKIPPED = /(?:\s|\uFEFF|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|```[a-z]*)+/y;
const BARE_WORD = /[^\s,:{}[\]"'\u201c\u201d\u2018\u2019]+/y;

type Token = "start" | "open" | "close" | "comma" | "colon" | "string" | "word" | "number";

/** Reads the text the way jsonrepair will, to find the places where it would have to make something up. */
function scanLoosely(text: string): { readonly problem?: string; readonly nulls: number } {
  let index = 0;
  let depth = 0;
  let nulls = 0;
  let last: Token = "start";
  let complete = false;
  for (;;) {
    index = skip(text, index);
    const char = text[index];
    if (char === undefined) break;
    if (complete && char !== "}" && char !== "]") return { problem: "more than one JSON value", nulls };
    const closing = CLOSING_QUOTE[char];
    if (closing !== undefined) {
      const end = findClosingQuote({ text, start: index, closing });
      if (end === -1) return { problem: "a string has no end; the text may have been cut off", nulls };
      index = end + 1;
      const isKey = text[skip(text, index)] === ":";
      if (!isKey && (last === "string" || last === "word"))
        return { problem: "stray quotes in a string", nulls };
      last = "string";
    } else if (char === "{" || char === "[") {
      depth += 1;
      index += 1;
      last = "open";
    } else if (char === "}" || char === "]") {
      depth = Math.max(0, depth - 1);
      complete = depth === 0;
      index += 1;
      last = "close";
    } else if (char === "," || char === ":") {
      index += 1;
      last = char === "," ? "comma" : "colon";
    } else {
      BARE_WORD.lastIndex = index;
      const word = BARE_WORD.exec(text)?.[0] ?? char;
      index += word.length;
      if (last === "string") return { problem: `unexpected ${quoteShort(word)} after a string`, nulls };
      const isKey = text[skip(text, index)] === ":" && KEY.test(word);
      const isNull = NULL_WORDS.has(word);
      if (!isKey && !isNull && !BOOLEAN_WORDS.has(word) && !NUMBER.test(word)) {
        return { problem: `${quoteShort(word)} is neither a JSON value nor quoted`, nulls };
      }
      if (isNull && !isKey) nulls += 1;
      last = NUMBER.test(word) ? "number" : "word";
    }
  }
  // "…:1" may have been the beginning of 15: only a value with an end of its own counts as whole.
  if (depth > 0 && (last === "number" || last === "colon")) return { problem: "the text was cut off", nulls };
  return { nulls };
}

function skip(text: string, index: number): number {
  SKIPPED.lastIndex = index;
  return index + (SKIPPED.exec(text)?.[0].length ?? 0);
}

function findClosingQuote(search: { text: string; start: number; closing: string }): number {
  const { text, start, closing } = search;
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === closing) return index;
  }
  return -1;
}

function quoteShort(word: string): string {
  return JSON.stringify(word.length > 30 ? `${word.slice(0, 30)}…` : word);
}

/** Depth is bounded by the check that every text passes before it gets here. */
function countNulls(value: unknown): number {
  if (value === null) return 1;
  if (typeof value !== "object") return 0;
  let count = 0;
  for (const child of Object.values(value)) count += countNulls(child);
  return count;
}
