import { UNKNOWN } from "../types.js";
import { body } from "./strings.js";
import { matchAt, type Place, type ReadToken } from "./tokens.js";

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
    ...(closer === undefined ? {} : { opener: open }),
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
