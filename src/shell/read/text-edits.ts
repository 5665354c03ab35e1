import { UNKNOWN } from "../types.js";
import { hasWildcard, matchesPattern } from "./pattern.js";

/** What `${x^^}`, `${x%pattern}` and `${x/pattern/text}` make of a known text. */

export function changeCase(text: string, operator: string): string {
  const change = (part: string): string =>
    operator.startsWith("^") ? part.toUpperCase() : part.toLowerCase();
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}

export function remove(text: string, operator: string, pattern: string): string | undefined {
  if (pattern.includes(UNKNOWN)) return undefined;
  // The home folder is written "~" here; its parent is still a parent.
  if (text === "~" && pattern === "/*" && operator === "%") return "~/..";
  const fromStart = operator.startsWith("#");
  if (!hasWildcard(pattern)) {
    const plain = pattern.replace(/\\(.)/gs, "$1");
    if (fromStart) return text.startsWith(plain) ? text.slice(plain.length) : text;
    return plain !== "" && text.endsWith(plain) ? text.slice(0, -plain.length) : text;
  }
  if (text.length > 256) return undefined;
  const sizes = Array.from({ length: text.length + 1 }, (_, size) => size);
  if (operator.length === 2) sizes.reverse();
  for (const size of sizes) {
    const [taken, left] = fromStart
      ? [text.slice(0, size), text.slice(size)]
      : [text.slice(text.length - size), text.slice(0, text.length - size)];
    if (matchesPattern(pattern, taken)) return left;
  }
  return text;
}

export function replace(edit: {
  readonly text: string;
  readonly operator: string;
  readonly pattern: string;
  readonly replacement: string;
}): string | undefined {
  const { text, operator, pattern, replacement } = edit;
  if (pattern.includes(UNKNOWN)) return undefined;
  if (hasWildcard(pattern)) return replaceWild(edit);
  const plain = pattern.replace(/\\(.)/gs, "$1");
  if (plain === "") return text;
  if (operator === "//") return text.split(plain).join(replacement);
  if (operator === "/#") return text.startsWith(plain) ? replacement + text.slice(plain.length) : text;
  if (operator === "/%") return text.endsWith(plain) ? text.slice(0, -plain.length) + replacement : text;
  const at = text.indexOf(plain);
  return at < 0 ? text : text.slice(0, at) + replacement + text.slice(at + plain.length);
}

function replaceWild({
  text,
  operator,
  pattern,
  replacement,
}: Parameters<typeof replace>[0]): string | undefined {
  if (text.length > 64 || operator === "/#" || operator === "/%") return undefined;
  let done = "";
  for (let start = 0; start < text.length; ) {
    let end = text.length;
    while (end > start && !matchesPattern(pattern, text.slice(start, end))) end--;
    if (end === start) {
      done += text[start++];
      continue;
    }
    done += replacement;
    start = end;
    if (operator === "/") return done + text.slice(start);
  }
  return done;
}
