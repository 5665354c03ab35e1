import { MASK } from "./secret-assignments.js";

/** A line end between two characters that may both belong to one token. */
const WRAP = /(?<=[\w-])[ \t]{0,8}\r?\n[ \t]{0,40}(?=[\w-])/g;

/**
 * Masks tokens that a terminal, a log or a mail has wrapped: the pattern is looked for in the text without its line
 * ends. What follows the first line counts only as far as it looks drawn at random, so that the next sentence stays.
 */
export function maskWrapped(text: string, token: RegExp): string {
  const breaks: { readonly at: number; readonly length: number }[] = [];
  let removed = 0;
  const joined = text.replace(WRAP, (gap, offset: number) => {
    breaks.push({ at: offset - removed, length: gap.length });
    removed += gap.length;
    return "";
  });
  if (breaks.length === 0) return text;
  let result = "";
  let copied = 0;
  let passed = 0;
  let shift = 0;
  for (const match of joined.matchAll(token)) {
    while (passed < breaks.length && (breaks[passed]?.at ?? 0) <= match.index)
      shift += breaks[passed++]?.length ?? 0;
    const start = match.index + shift;
    let end = 0;
    for (let next = passed, gaps = shift; next < breaks.length; next += 1) {
      const { at, length } = breaks[next] ?? { at: 0, length: 0 };
      if (at >= match.index + match[0].length) break;
      gaps += length;
      const until = Math.min(breaks[next + 1]?.at ?? joined.length, match.index + match[0].length);
      if (!looksDrawn(joined.slice(at, until))) break;
      end = until + gaps;
    }
    if (end === 0) continue;
    result += text.slice(copied, start) + MASK;
    copied = end;
  }
  return result + text.slice(copied);
}

const CONTINUED = new RegExp(
  `(?<=${MASK.replace(/[[\]*]/g, "\\$&")})(?:[ \\t]{0,8}\\r?\\n[ \\t]{0,40}[\\w+/=~.-]{8,})+`,
  "g",
);

/** The lines behind a masked value that can only be the rest of it. */
export function maskContinued(masked: string): string {
  return masked.replace(CONTINUED, (rest) => {
    const parts = rest.split(/(\s+)/).slice(1);
    let shown = 0;
    while (shown < parts.length && looksDrawn(parts[shown + 1] ?? "")) shown += 2;
    return parts.slice(shown).join("");
  });
}

const TURN = /(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)|(?<=[a-z])(?=[A-Z])/g;

/** Letters and digits through each other, as no word has them. */
function looksDrawn(part: string): boolean {
  return part.length >= 6 && /\d/.test(part) && (part.match(TURN)?.length ?? 0) >= 2;
}
