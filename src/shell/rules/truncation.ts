import type { ShellWord, SimpleCommand } from "../types.js";
import { isDownloadPlace, isQuietDevice, isSystemLog } from "./places.js";
import { type Condition, names } from "./row.js";
import { placeOf } from "./segments.js";
import { writesOf } from "./writes.js";

/** Files that are made anew all the time; emptying one by redirection loses nothing of worth. */
const SPARE = /(?:^|\.)(?:tmp|temp|pid|lock|cache|keep|gitkeep|nojekyll|done|stamp|touch)$/;
/** Programs that read the file they are told to write: the shell has emptied it before they start. */
const READERS = names(
  "sort uniq sed awk gawk grep egrep fgrep cut cat head tail jq yq tac rev fmt fold column shuf iconv nl paste tr",
);

function overwritten({ redirects }: SimpleCommand): readonly ShellWord[] {
  if (redirects.length === 0) return [];
  return redirects
    .filter(({ kind, target }) => kind === "write" && !isQuietDevice(target))
    .map(({ target }) => target);
}

/** `sort list > list`. */
export const emptiesItself: Condition = ({ command }) =>
  READERS.has(command.program)
    ? overwritten(command).find(
        (target) => target.known && command.args.some(({ text }) => text === target.text),
      )
    : undefined;

/** `: > file`, `> file`, `cat /dev/null > file`, `echo -n > file`. */
export const emptiedByRedirect: Condition = ({ command }) => {
  const explicit = printsNothingOf(command);
  return overwritten(command).find(
    (target) => (explicit || printsNothing(command)) && isLoss({ command, target, explicit }),
  );
};

/** Programs that print what is in the files they are named, and nothing else. */
const PRINTERS = names("cat sort uniq head tail tac rev nl fold fmt column shuf paste");

/** `cat /dev/null`, `sort /dev/null`, `head -n 0 a`: nothing is all there is to read. */
function printsNothingOf({ program, args }: SimpleCommand): boolean {
  if (/^(?:head|shuf)$/.test(program) && args.some((_, index) => takesNone(args, index))) return true;
  return (
    PRINTERS.has(program) &&
    args.some(isNothing) &&
    args.every((word, index) => isNothing(word) || /^-|^\d+$/.test(word.text) || isOutput(args, index))
  );
}

function takesNone(args: readonly ShellWord[], index: number): boolean {
  const text = args[index]?.text ?? "";
  return (
    /^(?:-[nc]|--(?:lines|bytes|head-count)=)0+$/.test(text) ||
    (/^0+$/.test(text) && /^(?:-[nc]|--(?:lines|bytes|head-count))$/.test(args[index - 1]?.text ?? ""))
  );
}

function isOutput(args: readonly ShellWord[], index: number): boolean {
  return /^(?:-[a-zA-Z]*o|--output)$/.test(args[index - 1]?.text ?? "");
}

function printsNothing({ program, args, name, input }: SimpleCommand): boolean {
  if (program === "" && args.length === 0) return name.text === "";
  if (program === ":" || program === "true" || program === "false") return true;
  if (program === "cat" && args.length === 0) return input.kind === "file" && isNothing(input.path);
  if (program !== "echo" && program !== "printf") return false;
  return args.every(({ text, known }) => known && (text === "" || text === "-n"));
}

function isLoss(found: {
  readonly command: SimpleCommand;
  readonly target: ShellWord;
  readonly explicit: boolean;
}): boolean {
  const { command, target, explicit } = found;
  if (isDownloadPlace(target) && !command.repeated) return false;
  if (explicit || command.repeated) return true;
  const { anchor, segments } = placeOf(target);
  const name = segments.at(-1) ?? "";
  const written = command.program === "echo" || command.program === "printf";
  const spare =
    SPARE.test(name) ||
    (written && /\.(?:log|out|txt|err)$/.test(name)) ||
    !name.slice(1).includes(".") ||
    name === "__init__.py";
  if (segments.includes(".git") && !/\.lock$/.test(name)) return true;
  if (anchor === "here" && segments[0] !== ".." && spare) return false;
  return !(anchor === "unknown" && spare);
}

/** `truncate -s 0 app.db`; making a file longer or a new one of a given size is no loss. */
export const shrinks: Condition = ({ command, values, operands }) => {
  const size = (values.get("s") ?? values.get("size"))?.at(-1)?.text.trim() ?? "";
  const target = operands.find((word) => !isDownloadPlace(word) || command.repeated);
  return target !== undefined &&
    (/^(?:0+[a-z]*$|[-<]|[/%])/i.test(size) ||
      isSystemLog(target) ||
      /\.(?:db|sqlite3?|mdb|ibd)$/i.test(target.text))
    ? target
    : undefined;
};

/** `perl -i -ne '' x`, `gawk -i inplace 0 x`: a file is replaced by what a program prints, which is nothing. */
export const printsNothingInPlace: Condition = ({ args, command: { program } }) => {
  const letters = args.filter(({ text }) => /^-[a-zA-Z]/.test(text)).map(({ text }) => text);
  const inPlace = /awk$/.test(program)
    ? args.some(
        ({ text }, index) => text === "inplace" && /^(?:-i|--include)$/.test(args[index - 1]?.text ?? ""),
      )
    : letters.some((text) => /^-[a-zA-Z]*i/.test(text)) &&
      letters.some((text) => /^-[a-hj-z]*n/.test(text)) &&
      !letters.some((text) => /^-[a-z]*p/.test(text));
  const code = args.find(({ text }, index) =>
    /awk$/.test(program)
      ? index > 0 && !text.startsWith("-") && text !== "inplace"
      : /^-[a-zA-Z]*e$/.test(args[index - 1]?.text ?? ""),
  );
  return inPlace &&
    /^\s*(?:0|1?;?|\{\s*\}|BEGIN\s*\{\s*\})\s*$/.test(code?.text ?? "x") &&
    code?.text.trim() !== "1"
    ? code
    : undefined;
};

/** Appending is what logs are for; anything else takes records away. */
export const overwritesLog: Condition = ({ command }) =>
  writesOf(command).find(({ word, how }) => how === "replace" && isSystemLog(word))?.word;

/** `cp /dev/null app.db`, `dd if=/dev/null of=x`, `sort -o x /dev/null`: the content comes from nothing. */
export const replacedByNothing: Condition = ({ command }) => {
  const fed = /^(?:tee|sponge)$/.test(command.program) && isEmptyInput(command.input);
  const printed = printsNothingOf(command);
  return writesOf(command).find(
    ({ word, from, how }) =>
      (fed || (printed && how === "replace") || (from !== undefined && isNothing(from))) &&
      !isQuietDevice(word) &&
      !isDownloadPlace(word),
  )?.word;
};

function isEmptyInput(input: SimpleCommand["input"]): boolean {
  if (input.kind === "file") return isNothing(input.path);
  if (input.kind === "text") return input.text.text === "";
  return (
    input.kind === "commands" &&
    input.from.length > 0 &&
    input.from.every((from) => from.args.some(isNothing) || (from.args.length === 0 && printsNothing(from)))
  );
}

function isNothing(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments.length === 2 && segments[0] === "dev" && segments[1] === "null";
}
