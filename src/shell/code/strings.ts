import { UNKNOWN } from "../types.js";
import { matchAt, type Place, type ReadToken } from "./tokens.js";

const OPENS_STRING = /^[rRbBuUfF'"`]/;
const PYTHON_OPENER = /(?:[rRbBuUfF]{1,2})?('''|"""|'|")/y;

/** Reads a string that begins here: undefined when none does, `endless` when it never ends. */
export function readString({ code, at, language }: Place): ReadToken | "endless" | undefined {
  const char = code[at] ?? "";
  if (language.pythonStrings === true) return readPrefixed(code, at, language.interpolation);
  if (char === "'" || char === '"') {
    const interpolation = char === '"' ? language.interpolation : undefined;
    return body({ code, from: at + 1, closer: char, interpolation, kind: "text" });
  }
  if (char !== "`" || language.backtick === undefined) return undefined;
  if (language.backtick === "template")
    return body({ code, from: at + 1, closer: "`", interpolation: "${", kind: "text" });
  return body({
    code,
    from: at + 1,
    closer: "`",
    interpolation: language.interpolation ?? "$",
    kind: "command",
  });
}

function readPrefixed(
  code: string,
  at: number,
  interpolation: "$" | "#{" | "${" | undefined,
): ReadToken | "endless" | undefined {
  if (!OPENS_STRING.test(code[at] ?? "")) return undefined;
  PYTHON_OPENER.lastIndex = at;
  const match = PYTHON_OPENER.exec(code);
  if (match === null)
    return code[at] === "`"
      ? body({ code, from: at + 1, closer: "`", interpolation: "$", kind: "command" })
      : undefined;
  const quote = match[1] ?? "'";
  const prefix = match[0].slice(0, -quote.length).toLowerCase();
  return body({
    code,
    from: at + match[0].length,
    closer: quote,
    interpolation: prefix.includes("f") ? "{" : interpolation,
    raw: prefix.includes("r"),
    kind: "text",
  });
}

export interface StringBody {
  readonly code: string;
  readonly from: number;
  readonly closer: string;
  /** Counts nested openers for bracket quotes such as `q{…}`. */
  readonly opener?: string | undefined;
  readonly interpolation?: "$" | "#{" | "${" | "{" | undefined;
  readonly raw?: boolean;
  readonly kind: "text" | "command";
}

/** What a string holds, escapes undone, with the expressions in it set apart. */
export function body(task: StringBody): ReadToken | "endless" {
  const { code, closer } = task;
  const pieces: string[] = [];
  const embedded: string[] = [];
  let depth = 0;
  let at = task.from;
  while (at < code.length) {
    const char = code[at] ?? "";
    if (char === "\\" && task.raw !== true) {
      const [text, length] = readEscape(code, at);
      pieces.push(text);
      at += length;
    } else if (depth === 0 && code.startsWith(closer, at)) {
      const token = { kind: task.kind, text: pieces.join("") } as const;
      return { token: embedded.length > 0 ? { ...token, embedded } : token, end: at + closer.length };
    } else if (task.opener !== undefined && (char === task.opener || char === closer)) {
      depth += char === task.opener ? 1 : -1;
      pieces.push(char);
      at++;
    } else {
      const inner = interpolated(code, at, task.interpolation);
      if (inner === undefined) {
        pieces.push(char);
        at++;
      } else {
        pieces.push(HOME.test(code.slice(at, inner.end)) ? "~" : UNKNOWN);
        if (inner.code !== "") embedded.push(inner.code);
        at = inner.end;
      }
    }
  }
  return "endless";
}

/** The home as an expression inside of a text: `$ENV{HOME}`, `#{Dir.home}`, `${process.env.HOME}`, `{Path.home()}`. */
const HOME =
  /^[#$]?\{?(?:\$ENV\{["']?HOME["']?\}|ENV\{["']?HOME["']?\}|\$_(?:ENV|SERVER)\[["']?HOME["']?\]|Dir\.home|ENV(?:\.fetch)?[[(]["']HOME["'][\])]|process\.env\.HOME|(?:os\.)?homedir\(\)|os\.environ\[["']HOME["']\]|os\.getenv\(["']HOME["']\)|os\.path\.expanduser\(["']~["']\)|(?:pathlib\.)?Path\.home\(\)|HOME)\}?$/;
const SCALAR = /\$(?:[A-Za-z_]\w*|\{\w+\}|[_&0-9!])(?:->)?(?:\[[^\]"'\n]*\]|\{[^}"'\n]*\})*/y;

function interpolated(
  code: string,
  at: number,
  kind: StringBody["interpolation"],
): { code: string; end: number } | undefined {
  if (kind === undefined) return undefined;
  if (kind === "$") {
    if (code.startsWith("@{[", at)) return bracketed(code, at + 2);
    if (code.startsWith("{$", at)) return bracketed(code, at);
    const name = matchAt(SCALAR, code, at);
    return name === undefined ? undefined : { code: "", end: at + name.length };
  }
  if (!code.startsWith(kind, at)) return undefined;
  if (kind === "{" && code[at + 1] === "{") return undefined;
  return bracketed(code, at + kind.length - 1);
}

/** Looking for a partner that is missing must not cost the whole text for every bracket. */
const LONGEST_EXPRESSION = 300;

/** The text between the bracket at `at` and its partner. */
function bracketed(code: string, at: number): { code: string; end: number } | undefined {
  const open = code[at] ?? "";
  const close = open === "[" ? "]" : "}";
  let depth = 0;
  const limit = Math.min(code.length, at + LONGEST_EXPRESSION);
  for (let index = at; index < limit; index++) {
    if (code[index] === open) depth++;
    else if (code[index] === close && --depth === 0)
      return { code: code.slice(at + 1, index), end: index + 1 };
  }
  return undefined;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  a: "",
  b: "",
  e: "\x1b",
  f: "",
  v: "",
  "\n": "",
};

function readEscape(code: string, at: number): readonly [text: string, length: number] {
  const hex = matchAt(
    /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[xu]\{[\da-fA-F]{1,6}\})/y,
    code,
    at,
  );
  if (hex !== undefined) {
    const value = Number.parseInt(hex.slice(2).replace(/[{}]/g, ""), 16);
    return [value <= 0x10_ff_ff ? String.fromCodePoint(value) : UNKNOWN, hex.length];
  }
  const octal = matchAt(/\\[0-7]{2,3}/y, code, at);
  if (octal !== undefined) return [String.fromCharCode(Number.parseInt(octal.slice(1), 8)), octal.length];
  const next = code[at + 1] ?? "";
  return [SHORT_ESCAPES[next] ?? next, 2];
}

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };
const PERL_WORD = /(?:qq|qx|qw|qr|q|tr|m|s|y)(?=\s*[^\w\s,;=)>.]|\s+[^\w\s,;=)>.-])/y;
const RUBY_WORD = /%[qQwWxiIr]?(?=[^\w\s=])/y;

/** Quotes that begin with a letter: `qx{ls}` of Perl, `%x(ls)` of Ruby. */
export function readQuoteWord(place: Place, operandExpected: boolean): ReadToken | "endless" | undefined {
  const { code, at, language, before } = place;
  const perl = language.quoteWords === "perl";
  if (perl && (/[\w$@%&>]/.test(code[at - 1] ?? "") || before?.text === "->" || before?.text === "{")) {
    if (before?.text !== "{") return undefined;
    if (/^\w+\s*\}/.test(code.slice(at, at + 16))) return undefined;
  }
  if (!perl && !operandExpected && before?.kind !== "name") return undefined;
  const word = matchAt(perl ? PERL_WORD : RUBY_WORD, code, at);
  if (word === undefined) return undefined;
  let from = at + word.length;
  while (/\s/.test(code[from] ?? "")) from++;
  const open = code[from] ?? "";
  const kind = word.replace("%", "");
  const first = delimited({ code, from: from + 1, open, kind });
  if (first === "endless") return first;
  if (perl && /^(?:s|tr|y)$/.test(kind)) return substitution({ code, from: first.end, open, kind });
  if (/^(?:qr|m|r|tr|y)$/.test(kind))
    return { token: { kind: "text", text: UNKNOWN }, end: skipFlags(code, first.end) };
  return first;
}

interface Delimited {
  readonly code: string;
  readonly from: number;
  readonly open: string;
  readonly kind: string;
}

function delimited({ code, from, open, kind }: Delimited): ReadToken | "endless" {
  const closer = CLOSERS[open];
  const plain = /^(?:q|qw|w|i|tr|y)$/.test(kind);
  const read = body({
    code,
    from,
    closer: closer ?? open,
    opener: closer === undefined ? undefined : open,
    interpolation: plain ? undefined : kind.startsWith("q") || kind === "s" || kind === "m" ? "$" : "#{",
    kind: /x$/.test(kind) ? "command" : "text",
  });
  if (read === "endless" || read.token === undefined) return read;
  return /^(?:qw|[wWiI])$/.test(kind)
    ? { token: { kind: "words", text: read.token.text }, end: read.end }
    : read;
}

/** The second half of `s/…/…/flags`; with the flag `e` it is code. */
function substitution({ code, from, open, kind }: Delimited): ReadToken | "endless" {
  let start = from;
  let opener = open;
  if (CLOSERS[open] !== undefined) {
    while (/\s/.test(code[start] ?? "")) start++;
    opener = code[start] ?? "";
    start++;
  }
  const second = delimited({ code, from: start, open: opener, kind: kind === "s" ? "q" : kind });
  if (second === "endless") return second;
  const end = skipFlags(code, second.end);
  const runs = kind === "s" && code.slice(second.end, end).includes("e");
  const token = { kind: "text", text: UNKNOWN } as const;
  return { token: runs ? { ...token, embedded: [second.token?.text ?? ""] } : token, end };
}

function skipFlags(code: string, at: number): number {
  let end = at;
  while (/[a-z]/.test(code[end] ?? "")) end++;
  return end;
}
