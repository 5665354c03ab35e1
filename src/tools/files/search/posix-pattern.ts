import { ToolError } from "../../../tool/errors.js";

const OUTSIDE: Readonly<Record<string, string>> = {
  d: "[0-9]",
  D: "[^0-9]",
  s: "[[:space:]]",
  S: "[^[:space:]]",
  w: "[[:alnum:]_]",
  W: "[^[:alnum:]_]",
  t: "\t",
};
const INSIDE: Readonly<Record<string, string>> = { d: "0-9", s: "[:space:]", w: "[:alnum:]_", t: "\t" };

/** The same expression as small greps understand it (POSIX, extended); refuses what they cannot do. */
export function posixPattern(pattern: string): string {
  let written = "";
  for (let at = 0; at < pattern.length; ) {
    const sign = pattern[at] ?? "";
    const next = pattern[at + 1] ?? "";
    if (sign === "\\") {
      written += OUTSIDE[next] ?? sign + next;
      at += 2;
    } else if (sign === "[") {
      const end = endOfBrackets(pattern, at);
      written += brackets(pattern.slice(at + 1, end));
      at = end + 1;
    } else if (sign === "(" && next === "?") {
      if (!pattern.startsWith("(?:", at)) throw needsRipgrep(pattern);
      written += "(";
      at += 3;
    } else if (next === "?" && /[*+?}]/.test(sign)) {
      // As few as possible or as many: the same lines match.
      written += sign;
      at += 2;
    } else {
      written += sign;
      at++;
    }
  }
  return written;
}

function endOfBrackets(pattern: string, start: number): number {
  let at = start + (pattern[start + 1] === "^" ? 2 : 1);
  if (pattern[at] === "]") at++;
  while (at < pattern.length && pattern[at] !== "]") {
    const named = /^\[:[a-z]+:\]/.exec(pattern.slice(at));
    at += named === null ? (pattern[at] === "\\" ? 2 : 1) : named[0].length;
  }
  return at;
}

/** In brackets a backslash is an ordinary sign there, so ] goes to the front and - to the end. */
function brackets(inner: string): string {
  const negated = inner.startsWith("^");
  let front = "";
  let back = "";
  const middle = inner.slice(negated ? 1 : 0).replace(/\\(.)/gs, (_whole, sign: string) => {
    if (sign === "]") front = "]";
    else if (sign === "-") back = "-";
    else return INSIDE[sign] ?? (/[a-zA-Z0-9]/.test(sign) ? `\\${sign}` : sign);
    return "";
  });
  return `[${negated ? "^" : ""}${front}${middle}${back}]`;
}

export function needsRipgrep(pattern: string): ToolError {
  return new ToolError(
    `The pattern ${JSON.stringify(pattern)} needs ripgrep, which is not installed there.`,
    {
      code: "unavailable",
      hint: "Leave out look-around, flags such as (?i) and ranges of letters outside ASCII, or install ripgrep.",
    },
  );
}
