import { ESCAPED_LETTERS } from "../../base/quote.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { FILTERS } from "./filters.js";
import { parseOptions } from "./options.js";
import { placePrintedBy } from "./printed-places.js";
import type { ShellState } from "./state.js";
import { isKnown, type Stream } from "./streams.js";

/** Commands that print nothing as long as all goes well. */
const SILENT = new Set(
  (
    ": true false cd export declare typeset local readonly unset set shopt alias unalias trap read mapfile readarray " +
    "sleep mkdir rmdir rm touch chmod chown cp mv ln test [ return exit break continue wait exec shift let ulimit " +
    "umask hash source . kill install truncate"
  ).split(" "),
);

/** `set`, `export -p`, `declare -x`: without a name they print what there is. */
function lists({ program, args }: SimpleCommand): boolean {
  return /^(?:export|declare|typeset|readonly|alias|trap)$/.test(program)
    ? args.every(({ text }) => text.startsWith("-"))
    : program === "set" && args.length === 0;
}

/** The text a command is known to print; undefined when only running it would tell. */
export function printedBy(
  command: SimpleCommand,
  {
    input,
    state,
    folder,
  }: { readonly input: Stream; readonly state: ShellState; readonly folder: () => string | undefined },
): string | undefined {
  const { program, args } = command;
  switch (program) {
    case "echo":
      return echo(args);
    case "printf":
      return args[0] === undefined || args[0].text === "-v" ? "" : printf(args);
    case "yes":
      return args.length === 0 ? "y\n" : `${texts(args).join(" ")}\n`;
    case "which":
    case "realpath":
    case "readlink":
      return named(args);
    case "command":
    case "type":
      return args[0]?.text === "-v" || args[0]?.text === "-p" || args[0]?.text === "-P"
        ? named(args)
        : undefined;
    case "ls":
      return listed(args);
    case "pwd":
      return `${folder() ?? "."}\n`;
    case "mktemp":
      return "/tmp/tmp.mktemp\n";
    case "basename":
      return args.length === 1 ? `${args[0]?.text.replace(/\/+$/, "").split("/").at(-1) ?? ""}\n` : undefined;
    case "dirname":
      return args.length === 1 ? `${parentOf(args[0]?.text ?? "")}\n` : undefined;
    case "python":
    case "python3":
    case "perl":
    case "ruby":
    case "node":
    case "php":
      return printedLiteral(args) ?? placePrintedBy(command);
    default:
      if (SILENT.has(program)) return lists(command) ? undefined : "";
      return placePrintedBy(command) ?? filtered(command, input, state);
  }
}

/** Files that are named are listed by their names; what is in a folder nobody knows. */
function listed(args: readonly ShellWord[]): string | undefined {
  const names = args.filter(({ text }) => !/^-1?$/.test(text));
  const areFiles = names.every(({ text, known, glob }) => known && !glob && /^[^-].*\.\w+$/.test(text));
  return names.length > 0 && areFiles ? `${texts(names).join("\n")}\n` : undefined;
}

function filtered(command: SimpleCommand, input: Stream, state: ShellState): string | undefined {
  const filter = Object.hasOwn(FILTERS, command.program) ? FILTERS[command.program] : undefined;
  if (filter === undefined) return undefined;
  const stream = fileArgument(command, state) ?? input;
  const args = stream === input ? command.args : command.args.filter((arg) => arg.text.startsWith("-"));
  if (command.program === "cat" && stream.kind === "text" && stream.text !== "")
    return filter(args, stream.text);
  if (!isKnown(stream) || args.some((arg) => !arg.known)) return undefined;
  return filter(args, stream.text);
}

/** The content of the one file that is read, when this very line made it. */
function fileArgument(command: SimpleCommand, state: ShellState): Stream | undefined {
  if (command.program === "tr" || command.program === "openssl" || command.program === "tee")
    return undefined;
  const operands = parseOptions(command.args).operands.filter((operand) => operand.text !== "-");
  const [only] = operands;
  return operands.length === 1 && only !== undefined ? state.files.get(only.text)?.content : undefined;
}

/** `python3 -c 'print("text")'` and the like: nothing but one text. */
function printedLiteral(args: readonly ShellWord[]): string | undefined {
  const [option, code] = args;
  if (args.length !== 2 || !/^-[ceEr]$/.test(option?.text ?? "")) return undefined;
  const match = /^\s*(?:print|puts|echo|say|console\.log)\s*\(?\s*(["'])([^"'\\$@#]*)\1\s*\)?\s*;?\s*$/.exec(
    code?.text ?? "",
  );
  return match === null ? undefined : `${match[2]}\n`;
}

function texts(words: readonly ShellWord[]): readonly string[] {
  return words.map((word) => word.text);
}

function echo(args: readonly ShellWord[]): string {
  let first = 0;
  let newline = true;
  let escapes = false;
  for (; /^-[neE]+$/.test(args[first]?.text ?? ""); first++) {
    const option = args[first]?.text ?? "";
    if (option.includes("n")) newline = false;
    if (option.includes("e")) escapes = true;
  }
  const text = texts(args.slice(first)).join(" ");
  return (escapes ? readEscapes(text) : text) + (newline ? "\n" : "");
}

function printf(args: readonly ShellWord[]): string {
  const [format = "", ...rest] = texts(args[0]?.text === "--" ? args.slice(1) : args);
  return formatPrintf(format, rest);
}

/** `which rm` names the program it was asked for. */
function named(args: readonly ShellWord[]): string {
  const names = texts(args).filter((text) => !text.startsWith("-"));
  return names.length === 0 ? UNKNOWN : `${names.join("\n")}\n`;
}

function parentOf(path: string): string {
  const cut = path.replace(/\/+$/, "").lastIndexOf("/");
  return cut < 0 ? "." : cut === 0 ? "/" : path.slice(0, cut);
}

/** Backslash sequences as `echo -e`, `printf` and `%b` read them. */
export function readEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|0([0-7]{1,3})|([1-7][0-7]{0,2})|c[\s\S]*|([\s\S]))/g,
    (whole, hex, short, long, zeroed, octal, letter: string | undefined) => {
      const digits = hex ?? short ?? long;
      if (digits !== undefined) return codePoint(Number.parseInt(digits, 16));
      if ((zeroed ?? octal) !== undefined)
        return String.fromCharCode(Number.parseInt(zeroed ?? octal, 8) & 0xff);
      if (letter === undefined) return "";
      return LETTERS[letter] ?? whole;
    },
  );
}

const LETTERS: Readonly<Record<string, string>> = {
  ...ESCAPED_LETTERS,
  "0": "\0",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

function codePoint(value: number): string {
  return value <= 0x10ffff ? String.fromCodePoint(value) : "";
}

/** What `printf` prints, the format reused until the arguments are used up. */
export function formatPrintf(format: string, args: readonly string[]): string {
  let printed = "";
  let next = 0;
  const once = (): boolean => {
    let took = false;
    const take = (): string => {
      took = true;
      return args[next++] ?? "";
    };
    const pieces = format.split(/(%%|%\([^)]*\)T|%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z])/);
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 0) printed += readEscapes(piece);
      else if (piece === "%%") printed += "%";
      else if (piece.endsWith("b")) printed += readEscapes(take());
      else if (piece.endsWith("c")) printed += take().slice(0, 1);
      else printed += shaped(piece, take());
      if (printed.length > 65_536) return false;
    }
    return took;
  };
  do {
    if (!once()) break;
  } while (next < args.length);
  return printed;
}

/** `%02x` and the like for numbers; `%.2s` cuts; widths only add blanks, which no shell minds. */
function shaped(piece: string, given: string): string {
  const kind = piece.at(-1) ?? "s";
  if (kind === "s" || kind === "q") {
    const precision = /\.(\d+)/.exec(piece)?.[1];
    return precision === undefined ? given : given.slice(0, Number(precision));
  }
  const value = numberFrom(given);
  if (value === undefined) return given;
  const text =
    kind === "x" ? value.toString(16) : kind === "X" ? value.toString(16).toUpperCase() : undefined;
  const digits = text ?? (kind === "o" ? value.toString(8) : String(value));
  const width = /%[-+ #]*(0?)(\d*)/.exec(piece);
  return digits.padStart(Math.min(Number(width?.[2] || 0), 64), width?.[1] === "0" ? "0" : " ");
}

function numberFrom(given: string): number | undefined {
  if (/^["']/.test(given)) return given.codePointAt(1);
  if (/^-?0x[\da-f]+$/i.test(given)) return Number(given);
  if (/^0[0-7]+$/.test(given)) return Number.parseInt(given, 8);
  return /^-?\d+$/.test(given) ? Number(given) : undefined;
}
