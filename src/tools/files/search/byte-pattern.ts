import { needsRipgrep } from "./posix-pattern.js";

/** Signs that stand for bytes which no text of ours can hold; `tr` puts the bytes in before the pattern is used. */
export const BYTE_SIGNS = { from: "\\002\\003\\004\\005", to: "\\200\\277\\302\\364" } as const;

const HIGH_BYTES = "\u0002-\u0005";
const HIGH_CHARACTER = "[\u0004-\u0005][\u0002-\u0003]{1,3}";
const QUANTIFIER = /^[*+?{]/;

/**
 * A POSIX expression for a grep that sees bytes where a person sees characters (busybox): what means "any character"
 * means a whole UTF-8 character, and what repeats repeats a whole one.
 */
export function bytePattern(pattern: string): string {
  // Our brackets would change what \1 means. Signs of our own in a pattern match nothing in text anyway.
  if (/\\[1-9]/.test(pattern) || /[\u0002-\u0005]/.test(pattern)) return pattern;
  let written = "";
  for (let at = 0; at < pattern.length; ) {
    const token = tokenAt(pattern, at);
    at += token.length;
    if (token === ".") written += `([^${HIGH_BYTES}]|${HIGH_CHARACTER})`;
    else if (token.startsWith("[")) written += brackets(token, pattern);
    else if (isHigh(token) && QUANTIFIER.test(pattern.slice(at))) written += `(${token})`;
    else written += token;
  }
  return written;
}

/** An escape, a bracket expression or one character. */
function tokenAt(pattern: string, at: number): string {
  const rest = pattern.slice(at);
  const [token = ""] = /^(?:\\.|\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]|.)/su.exec(rest) ?? [];
  return token;
}

function brackets(token: string, pattern: string): string {
  const negated = token.startsWith("[^");
  const inner = token.slice(negated ? 2 : 1, -1);
  const high = [...inner].filter(isHigh);
  if (negated && high.length === 0) {
    // A ] is an ordinary sign only as the first one.
    const [front, rest] = inner.startsWith("]") ? ["]", inner.slice(1)] : ["", inner];
    return `([^${front}${HIGH_BYTES}${rest}]|${HIGH_CHARACTER})`;
  }
  if (high.length === 0) return token;
  if (negated || /[^\u0000-\u007f]-|-[^\u0000-\u007f]/.test(inner)) throw needsRipgrep(pattern);
  const low = [...inner].filter((character) => !isHigh(character)).join("");
  return `(${[...(low === "" ? [] : [`[${low}]`]), ...high].join("|")})`;
}

function isHigh(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
