import { LIMITS } from "../limits.js";
import { UNKNOWN } from "../types.js";

/** Ranges longer than this are stood for by their ends and one unknown word. */
const LONGEST_RANGE = 64;

const LONGEST_WORD = 8_192;
const DEEPEST = 16;

/** `a{b,c}d` → `abd`, `acd`, on the written text, quotes respected. Undefined when it would be too many. */
export function expandBraces(text: string, depth = 0): readonly string[] | undefined {
  if (text.length > LONGEST_WORD || depth > DEEPEST) return undefined;
  if (!text.includes("{")) return [text];
  let words: readonly string[] = NOTHING_YET;
  let at = 0;
  while (at < text.length) {
    const open = nextBrace(text, at);
    const literal = text.slice(at, open);
    const group = open < text.length ? readGroup(text, open) : undefined;
    let choices: readonly string[];
    if (group === undefined) {
      choices = [open < text.length ? `${literal}{` : literal];
      at = open + 1;
    } else {
      const inner = choicesOf(group.body, depth + 1);
      if (inner === undefined) return undefined;
      choices = literal === "" ? inner : inner.map((choice) => literal + choice);
      at = group.end;
    }
    if (words.length * choices.length > LIMITS.braces) return undefined;
    if (words.length * choices.length * text.length > LIMITS.text * 4) return undefined;
    words = words === NOTHING_YET ? choices : eachWithEach(words, choices);
  }
  return words;
}

const NOTHING_YET: readonly string[] = [""];

function eachWithEach(words: readonly string[], choices: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const word of words) for (const choice of choices) all.push(word + choice);
  return all;
}

function choicesOf(body: string, depth: number): readonly string[] | undefined {
  const range = rangeOf(body);
  if (range !== undefined) return range;
  const parts = splitAtCommas(body);
  if (parts.length < 2) return inBraces(body, depth);
  const choices: string[] = [];
  for (const part of parts) {
    const words = expandBraces(part, depth);
    if (words === undefined) return undefined;
    choices.push(...words);
    if (choices.length > LIMITS.braces) return undefined;
  }
  return choices;
}

/** Braces without a comma stay, but what is inside them may expand: `{a{b,c}}`. */
function inBraces(body: string, depth: number): readonly string[] | undefined {
  return expandBraces(body, depth)?.map((word) => `{${word}}`);
}

function rangeOf(body: string): readonly string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(body);
  if (numbers !== null) {
    const [, from = "", to = "", step = "1"] = numbers;
    const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
    const spell = (value: number): string =>
      value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0");
    return stretch({ from: Number(from), to: Number(to), step: Number(step), spell });
  }
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(body);
  if (letters === null) return undefined;
  const [, from = "", to = "", step = "1"] = letters;
  const spell = (value: number): string => String.fromCharCode(value);
  return stretch({ from: from.charCodeAt(0), to: to.charCodeAt(0), step: Number(step), spell });
}

function stretch(range: {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  spell(value: number): string;
}): readonly string[] {
  const { from, to, spell } = range;
  const step = Math.max(1, Math.abs(range.step));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  const direction = to < from ? -step : step;
  if (count > LONGEST_RANGE) return [spell(from), spell(from + direction), spell(to), UNKNOWN];
  return Array.from({ length: count }, (_, index) => spell(from + index * direction));
}

/** Index of the next brace that may open a group, or the end. */
function nextBrace(text: string, start: number): number {
  for (let at = start; at < text.length; at = skip(text, at)) {
    if (text[at] === "{" && text[at - 1] !== "$") return at;
  }
  return text.length;
}

function readGroup(text: string, open: number): { readonly body: string; readonly end: number } | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at = skip(text, at)) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) {
      const body = text.slice(open + 1, at);
      return { body, end: at + 1 };
    }
  }
  return undefined;
}

function splitAtCommas(body: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < body.length; at = skip(body, at)) {
    if (body[at] === "{") depth++;
    else if (body[at] === "}") depth--;
    else if (body[at] === "," && depth === 0) {
      parts.push(body.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(body.slice(start));
  return parts;
}

/** The next position that counts: quoted text, escapes and substitutions are stepped over whole. */
function skip(text: string, at: number): number {
  const character = text[at];
  if (character === "\\") return at + 2;
  if (character === "'") return closing(text, at, "'");
  if (character === '"' || character === "`") return closingEscaped(text, at, character);
  if (character === "$" && text[at + 1] === "'") return closingEscaped(text, at + 1, "'");
  if (character === "$" && (text[at + 1] === "(" || text[at + 1] === "{"))
    return closingBracket(text, at + 1);
  return at + 1;
}

function closing(text: string, open: number, quote: string): number {
  const end = text.indexOf(quote, open + 1);
  return end < 0 ? text.length : end + 1;
}

function closingEscaped(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at + 1;
  }
  return text.length;
}

function closingBracket(text: string, open: number): number {
  const opener = text[open];
  const closer = opener === "(" ? ")" : "}";
  let depth = 0;
  for (let at = open; at < text.length; ) {
    const character = text[at];
    if (character === opener) depth++;
    else if (character === closer && --depth === 0) return at + 1;
    at = at === open || character === opener || character === closer ? at + 1 : skip(text, at);
  }
  return text.length;
}
