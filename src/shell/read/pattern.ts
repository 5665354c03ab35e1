import { readTokens, tokensMatch } from "../../base/wildcard.js";

/** Shell patterns (`*`, `?`, `[a-z]`, `@(a|b)`) against short texts, without a way to make them slow. */

const LONGEST = 256;
/** `[[:alpha:]]` takes any character here. */
const CLASS = /\[[!^]?[^\]]*\[:[^\]]*:\][^\]]*\]/g;

export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern.length > LONGEST || text.length > LONGEST) return false;
  return spellings(pattern).some((spelling) => tokensMatch(readTokens(spelling.replace(CLASS, "?")), text));
}

export function hasWildcard(text: string): boolean {
  return /[*?[]/.test(text);
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
