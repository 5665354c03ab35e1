import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { FILTERS } from "./decoders.js";
import { formatPrintf, readEscapes } from "./escapes.js";
import { parseOptions } from "./options.js";
import type { ShellState } from "./state.js";
import { isKnown, type Stream } from "./stream.js";

/** Commands that print nothing as long as all goes well. */
const SILENT = new Set(
  (
    ": true false cd export declare typeset local readonly unset set shopt alias unalias trap read mapfile readarray " +
    "sleep mkdir rmdir rm touch chmod chown cp mv ln test [ return exit break continue wait exec shift let ulimit " +
    "umask hash source . kill install truncate"
  ).split(" "),
);

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
      return printedLiteral(args);
    default:
      return SILENT.has(program) ? "" : filtered(command, input, state);
  }
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
