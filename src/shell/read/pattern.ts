/** Shell patterns (`*`, `?`, `[a-z]`, `@(a|b)`) against short texts, without a way to make them slow. */

type Token = { readonly kind: "star" } | { readonly kind: "one"; accepts(character: string): boolean };

const STAR: Token = { kind: "star" };
const ANY: Token = { kind: "one", accepts: () => true };
const LONGEST = 256;

export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern.length > LONGEST || text.length > LONGEST) return false;
  return spellings(pattern).some((spelling) => matchTokens(tokensOf(spelling), text));
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

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    const close = character === "[" ? pattern.indexOf("]", at + 2) : -1;
    if (character === "*") tokens.push(STAR);
    else if (character === "?") tokens.push(ANY);
    else if (close > 0) {
      tokens.push(bracket(pattern.slice(at + 1, close)));
      at = close;
    } else {
      if (character === "\\" && at + 1 < pattern.length) at++;
      const wanted = pattern[at];
      tokens.push({ kind: "one", accepts: (given) => given === wanted });
    }
  }
  return tokens;
}

function bracket(body: string): Token {
  if (body.includes("[:")) return ANY;
  const negated = body.startsWith("!") || body.startsWith("^");
  const ranges = [...(negated ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gsu)];
  return {
    kind: "one",
    accepts: (given) =>
      negated !==
      ranges.some(([, low, high, single]) =>
        single === undefined ? given >= (low ?? "") && given <= (high ?? "") : given === single,
      ),
  };
}

/** Greedy, with one star to come back to: at most length of pattern times length of text. */
function matchTokens(tokens: readonly Token[], text: string): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const current = tokens[token];
    if (current?.kind === "star") {
      star = token++;
      starAt = at;
    } else if (current?.kind === "one" && current.accepts(text[at] as string)) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[token]?.kind === "star") token++;
  return token === tokens.length;
}
