import { ESCAPED_LETTERS } from "../base/quote.js";

/** Belong to one shell or one command, not to what it hands on. */
const OF_ONE_SHELL = new Set(["_", "SHLVL", "PWD", "OLDPWD", "HERMES_EXEC_ID", "HERMES_RUNTIME_ID"]);
const DECLARATION =
  /^(?:declare|typeset|export)(?:[ \t]+(-[A-Za-z]+|--))*[ \t]+([A-Za-z_][A-Za-z0-9_]*)(=|$)/;

/**
 * The variables in what `export -p` printed: bash (`declare -x A="b"`, `$'…'` for control characters), and the
 * quoting of plain sh. Names that are exported without a value, and arrays, reach no program and are left out.
 */
export function parseExports(report: string | Uint8Array): Record<string, string> {
  // One character per byte, so that octal escapes and the bytes of a character can be put together.
  const bytes = typeof report === "string" ? Buffer.from(report) : Buffer.from(report);
  const text = bytes.toString("latin1");
  const found: Record<string, string> = {};
  for (let position = 0; position < text.length; ) {
    const lineEnd = endOfLine(text, position);
    const match = DECLARATION.exec(text.slice(position, lineEnd));
    if (match === null) {
      position = lineEnd + 1;
      continue;
    }
    const [whole, options = "", name = "", assigned] = match;
    if (assigned !== "=") {
      position = lineEnd + 1;
      continue;
    }
    const word = readWord(text, position + whole.length);
    if (word === undefined) break;
    const isArray = /[aA]/.test(options) && text[position + whole.length] === "(";
    if (!isArray) found[name] = Buffer.from(word.value, "latin1").toString("utf8");
    position = endOfLine(text, word.end) + 1;
  }
  return found;
}

/**
 * What was exported in the end against what a command begins with, in the form `ProgramRequest.env` takes: an
 * undefined value for what was taken away.
 */
export function differences(
  base: Readonly<Record<string, string>>,
  exported: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const changed: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(exported)) {
    if (!OF_ONE_SHELL.has(name) && base[name] !== value) changed[name] = value;
  }
  for (const name of Object.keys(base)) {
    if (!OF_ONE_SHELL.has(name) && !Object.hasOwn(exported, name)) changed[name] = undefined;
  }
  return changed;
}

interface Word {
  readonly value: string;
  readonly end: number;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** One word of shell text from `start`; undefined when a quote is left open, as in a report cut short. */
function readWord(text: string, start: number): Word | undefined {
  let value = "";
  let position = start;
  while (position < text.length && !/[ \t\n;]/.test(text[position] ?? "")) {
    const part = readPart(text, position);
    if (part === undefined) return undefined;
    value += part.value;
    position = part.end;
  }
  return { value, end: position };
}

function readPart(text: string, start: number): Word | undefined {
  const first = text[start];
  if (first === "'") {
    const end = text.indexOf("'", start + 1);
    return end === -1 ? undefined : { value: text.slice(start + 1, end), end: end + 1 };
  }
  if (first === '"') return readDoubleQuoted(text, start + 1);
  if (first === "$" && text[start + 1] === "'") return readAnsiQuoted(text, start + 2);
  if (first === "\\") return { value: text[start + 1] ?? "", end: start + 2 };
  return { value: first ?? "", end: start + 1 };
}

interface Quoted {
  readonly text: string;
  readonly start: number;
  /** Finds the closing quote and the backslash. */
  readonly special: RegExp;
  readEscaped(at: number): Word | undefined;
}

function readDoubleQuoted(text: string, start: number): Word | undefined {
  return readQuoted({
    text,
    start,
    special: /["\\]/g,
    readEscaped: (at) => {
      const escaped = text[at];
      if (escaped === undefined) return undefined;
      const value = escaped === "\n" ? "" : '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
      return { value, end: at + 1 };
    },
  });
}

function readAnsiQuoted(text: string, start: number): Word | undefined {
  return readQuoted({ text, start, special: /['\\]/g, readEscaped: (at) => readEscape(text, at) });
}

function readQuoted({ text, start, special, readEscaped }: Quoted): Word | undefined {
  let value = "";
  for (let position = start; ; ) {
    special.lastIndex = position;
    const match = special.exec(text);
    if (match === null) return undefined;
    value += text.slice(position, match.index);
    if (match[0] !== "\\") return { value, end: match.index + 1 };
    const escaped = readEscaped(match.index + 1);
    if (escaped === undefined) return undefined;
    value += escaped.value;
    position = escaped.end;
  }
}

const NUMBERED_ESCAPE = /([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c([\s\S])/y;

function readEscape(text: string, start: number): Word {
  NUMBERED_ESCAPE.lastIndex = start;
  const match = NUMBERED_ESCAPE.exec(text);
  if (match !== null) {
    const [whole, octal, hex, short, long, control] = match;
    const end = start + whole.length;
    if (octal !== undefined) return { value: byte(Number.parseInt(octal, 8)), end };
    if (hex !== undefined) return { value: byte(Number.parseInt(hex, 16)), end };
    if (control !== undefined) return { value: byte(control.charCodeAt(0) & 0x1f), end };
    const point = Number.parseInt(short ?? long ?? "0", 16);
    const character = point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
    return { value: Buffer.from(character).toString("latin1"), end };
  }
  const letter = text[start] ?? "";
  return { value: ESCAPED_LETTERS[letter] ?? letter, end: start + 1 };
}

function byte(code: number): string {
  return String.fromCharCode(code & 0xff);
}
