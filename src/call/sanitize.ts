import { stripControls } from "../base/visible-text.js";
import { maskVendorSecrets } from "../tool/secret-patterns.js";
import { wholeCharacters } from "./bounds.js";
import { stripFraming } from "./framing.js";

const DEFAULT_MAX_CHARS = 2_000;
/** Raw text beyond this much at either end is dropped before any work is done on it. */
const MIN_WINDOW = 16_384;
const HEAD_SHARE = 0.6;
const MAX_ROUNDS = 6;

/**
 * What a model may see of an error: no framing, no control characters, no recognisable secrets, at most
 * `maxChars`. Head and tail are both kept, because the cause often stands in the last line.
 */
export function sanitizeErrorText(raw: string, options: { readonly maxChars?: number } = {}): string {
  const maxChars = Math.max(0, Math.floor(options.maxChars ?? DEFAULT_MAX_CHARS));
  const { text, dropped } = endsOf(raw, Math.max(MIN_WINDOW, maxChars * 4));
  let current = shorten({ text: clean(text), maxChars, alreadyOmitted: dropped });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // The cut makes new line beginnings, and a mask can be longer than what it hides.
    const next = shorten({ text: clean(current), maxChars, alreadyOmitted: 0 });
    if (next === current) break;
    current = next;
  }
  return current;
}

function clean(text: string): string {
  let current = stripControls(text);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Masking and stripping can each uncover something for the other.
    const next = stripFraming(maskVendorSecrets(current));
    if (next === current) break;
    current = next;
  }
  return /^\s/.test(text) ? withoutBlankEnds(current) : current.trim();
}

/** The indentation of the first line stays: traces line up by it. */
function withoutBlankEnds(text: string): string {
  const lead = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf("\n", lead - 1) + 1).trimEnd();
}

function endsOf(raw: string, window: number): { text: string; dropped: number } {
  if (raw.length <= 2 * window) return { text: raw, dropped: 0 };
  const head = wholeCharacters(raw, window);
  const tail = raw.slice(-window);
  // The first word of the tail may be the rest of a secret that can no longer be recognised.
  const firstGap = /\s/.exec(tail.slice(0, 8_192));
  const kept = firstGap === null ? tail : tail.slice(firstGap.index);
  return { text: `${head}\n${kept}`, dropped: raw.length - head.length - kept.length };
}

function shorten(options: { text: string; maxChars: number; alreadyOmitted: number }): string {
  const { text, maxChars, alreadyOmitted } = options;
  if (text.length <= maxChars) return text;
  const marker = (omitted: number) => `\n… [${omitted} characters omitted] …\n`;
  const room = maxChars - marker(text.length + alreadyOmitted).length;
  if (room < 2) return wholeCharacters(text, maxChars);
  const head = wholeCharacters(text, Math.ceil(room * HEAD_SHARE));
  const tail = wholeTail(text, room - head.length);
  return `${head}${marker(text.length - head.length - tail.length + alreadyOmitted)}${tail}`;
}

function wholeTail(text: string, length: number): string {
  const start = text.length - length;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}
