import { readTokens, type Token, tokensMatch } from "../../base/wildcard.js";

/** Shell patterns (`*`, `?`, `[a-z]`, `@(a|b)`) against short texts, without a way to make them slow. */

const LONGEST = 256;
/** `[[:alpha:]]` takes any character here. */
const CLASS = /\[[!^]?[^\]]*\[:[^\]]*:\][^\]]*\]/g;

export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern.length > LONGEST || text.length > LONGEST) return false;
  if (last?.pattern !== pattern) last = compile(pattern);
  return text.startsWith(last.beginning) && last.spellings.some((tokens) => tokensMatch(tokens, text));
}

interface Compiled {
  readonly pattern: string;
  /** The plain characters in front. */
  readonly beginning: string;
  readonly spellings: readonly (readonly Token[])[];
}

/** One pattern is held against a thousand names in a row. */
let last: Compiled | undefined;

function compile(pattern: string): Compiled {
  return {
    pattern,
    beginning: /^[\w./~-]*/.exec(pattern)?.[0] ?? "",
    spellings: spellings(pattern).map((each) => readTokens(each.replace(CLASS, "?"))),
  };
}

export function hasWildcard(text: string): boolean {
  return /[*?[]|[+@!]\(/.test(text);
}

/** `@(a|b)` and `+(a|b)` once each, `?(a)` and `*(a)` also without; `!(…)` may be anything. */
function spellings(pattern: string): readonly string[] {
  const match = /[?*+@!]\(([^()]*)\)/.exec(pattern);
  if (match === null) return [pattern];
  const operator = match[0][0];
  const choices = operator === "!" ? ["*"] : (match[1] ?? "").split("|");
  if (operator === "?" || operator === "*") choices.push("");
  const before = pattern.slice(0, match.index);
  const after = pattern.slice(match.index + match[0].length);
  return choices.slice(0, 16).flatMap((choice) => spellings(`${before}${choice}${after}`).slice(0, 16));
}
