import { UNKNOWN } from "../types.js";
import type { Language } from "./languages.js";
import { readQuoteWord, readString } from "./strings.js";

/** One piece of program text. Comments and patterns are gone; what a string holds is data, unless embedded. */
export interface CodeToken {
  /** `command` is text between backticks that the language itself hands to a shell. */
  readonly kind: "name" | "text" | "number" | "sign" | "command" | "words";
  readonly text: string;
  /** Expressions inside a string (`f"{…}"`, `"#{…}"`), to be read as code. */
  readonly embedded?: readonly string[];
  /** True when no space stands before it. */
  readonly glued: boolean;
}

/** Longer programs than this are not looked through. */
export const MOST_TOKENS = 20_000;

const SPACE = /[^\S\n]+|\\\r?\n/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*[!?]?/uy;
const SIGIL = /(?:\$\$?(?:[\p{L}_][\p{L}\p{N}_]*|[_&0-9!@/\\,;.])|@@?[\p{L}_][\p{L}\p{N}_]*|@_|\$#?\{|\$)/uy;
const NUMBER = /0[xX][\da-fA-F_]+n?|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?n?/y;
const SIGN =
  /===|!==|\.\.\.|<=>|\*\*=|->|=>|::|:=|==|!=|\?\.|&\.|&&|\|\||\+=|-=|\.=|<=|>=|<<|>>|\*\*|=~|!~|\|>|<>|\+\+|--|\.\.|[\s\S]/uy;

/** Undefined when the text is too long or a quote never ends. */
export function tokenize(code: string, language: Language): readonly CodeToken[] | undefined {
  const tokens: CodeToken[] = [];
  let at = 0;
  while (at < code.length) {
    if (tokens.length > MOST_TOKENS) return undefined;
    const start = at;
    at = skipBlank({ code, at, language });
    const glued = at === start && tokens.length > 0;
    if (at >= code.length) break;
    const before = tokens.at(-1);
    const read = readToken({ code, at, language, before });
    if (read === undefined) return undefined;
    const { token } = read;
    if (token !== undefined) {
      const { kind, text, embedded } = token;
      tokens.push(embedded === undefined ? { kind, text, glued } : { kind, text, embedded, glued });
    }
    at = read.end;
  }
  return tokens;
}

export interface Place {
  readonly code: string;
  readonly at: number;
  readonly language: Language;
  readonly before?: CodeToken | undefined;
}

export interface ReadToken {
  readonly token?: Omit<CodeToken, "glued">;
  readonly end: number;
}

function readToken(place: Place): ReadToken | undefined {
  const { code, at, language } = place;
  const char = code[at] ?? "";
  if (char === "\n") return { token: { kind: "sign", text: "\n" }, end: at + 1 };
  const quoted = readString(place);
  if (quoted !== undefined) return quoted === "endless" ? undefined : quoted;
  if (language.regex === true && char === "/" && expectsOperand(place)) {
    const end = endOfPattern(code, at + 1);
    if (end !== undefined) return { token: { kind: "text", text: UNKNOWN }, end };
  }
  if (language.quoteWords !== undefined) {
    const read = readQuoteWord(place, expectsOperand(place));
    if (read !== undefined) return read === "endless" ? undefined : read;
  }
  if (language.sigils === true) {
    const sigil = matchAt(SIGIL, code, at);
    if (sigil !== undefined) return { token: { kind: "name", text: sigil }, end: at + sigil.length };
  }
  const number = /\d/.test(char) ? matchAt(NUMBER, code, at) : undefined;
  if (number !== undefined)
    return { token: { kind: "number", text: number.replaceAll("_", "") }, end: at + number.length };
  const name = char === "$" ? "$" : matchAt(NAME, code, at);
  if (name !== undefined) {
    const plain = language.name === "ruby" ? name : name.replace(/[!?]$/, "");
    return { token: { kind: "name", text: plain }, end: at + plain.length };
  }
  const sign = matchAt(SIGN, code, at) ?? char;
  return { token: { kind: "sign", text: sign }, end: at + sign.length };
}

/** Blanks and the first characters of comments; everything else need not be looked at twice. */
function mayBeBlank(char: string): boolean {
  return (
    char === " " ||
    char === "\t" ||
    char === "\\" ||
    char === "#" ||
    char === "/" ||
    char === "-" ||
    char === ";" ||
    char === "\r" ||
    char > "~"
  );
}

function skipBlank({ code, at, language }: Place): number {
  let index = at;
  for (;;) {
    const char = code[index];
    if (char === undefined || !mayBeBlank(char)) return index;
    const space = matchAt(SPACE, code, index);
    if (space !== undefined) {
      index += space.length;
      continue;
    }
    const block = language.blockComments?.find(([open]) => code.startsWith(open, index));
    if (block !== undefined) {
      const end = code.indexOf(block[1], index + block[0].length);
      index = end < 0 ? code.length : end + block[1].length;
      continue;
    }
    if (language.lineComments.some((sign) => code.startsWith(sign, index))) {
      const end = code.indexOf("\n", index);
      index = end < 0 ? code.length : end;
      continue;
    }
    return index;
  }
}

const BEFORE_PATTERN = new Set(
  "return if unless while until and or not split grep when case typeof print match in else".split(" "),
);

/** True where a value may begin, so that `/` starts a pattern and is not a division. */
function expectsOperand({ before }: Place): boolean {
  if (before === undefined) return true;
  if (before.kind === "sign") return !/^[)\]]$/.test(before.text);
  return before.kind === "name" && BEFORE_PATTERN.has(before.text);
}

/** A slash that starts no pattern must not cost the whole text. */
const LONGEST_PATTERN = 300;

function endOfPattern(code: string, from: number): number | undefined {
  let inClass = false;
  const limit = Math.min(code.length, from + LONGEST_PATTERN);
  for (let index = from; index < limit; index++) {
    const char = code[index];
    if (char === "\n") return undefined;
    if (char === "\\") index++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) {
      let end = index + 1;
      while (/[a-z]/i.test(code[end] ?? "")) end++;
      return end;
    }
  }
  return undefined;
}

export function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** A place in a list of tokens that only moves forward. */
export class Cursor {
  readonly #tokens: readonly CodeToken[];
  at = 0;

  constructor(tokens: readonly CodeToken[]) {
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.at >= this.#tokens.length;
  }

  peek(ahead = 0): CodeToken | undefined {
    return this.#tokens[this.at + ahead];
  }

  isSign(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token?.kind === "sign" && token.text === text;
  }

  /** The text of the token here; steps over it. */
  take(): string {
    const text = this.peek()?.text ?? "";
    this.at++;
    return text;
  }

  skipLines(): void {
    while (this.isSign("\n")) this.at++;
  }
}
