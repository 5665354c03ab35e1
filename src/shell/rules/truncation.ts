import { parseOptions } from "../read/options.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";
import { isDownloadPlace, isQuietDevice, isSystemLog } from "./places.js";
import { placeOf } from "./segments.js";
import { danger, names, onlyExplains } from "./words.js";
import { writesOf } from "./writes.js";

/** Files that are made anew all the time; emptying one by redirection loses nothing of worth. */
const SPARE = /(?:^|\.)(?:tmp|temp|pid|lock|cache|keep|gitkeep|nojekyll|done|stamp|touch)$/;
const REASON = "empties a file, its content is gone";
/** Programs that read the file they are told to write: the shell has emptied it before they start. */
const READERS = names(
  "sort uniq sed awk gawk grep egrep fgrep cut cat head tail jq yq tac rev fmt fold column shuf iconv nl paste tr",
);

/** `: > file`, `> file`, `cat /dev/null > file`, `echo -n > file`. */
export const emptiedByRedirect: Rule = (command) => {
  if (command.redirects.length === 0) return undefined;
  for (const { kind, target } of command.redirects) {
    if (kind !== "write" || isQuietDevice(target)) continue;
    const readsItself = READERS.has(command.program) && command.args.some(({ text }) => text === target.text);
    if (readsItself && target.known)
      return danger("truncate.self", "empties the very file it is to read", target);
    const explicit = command.program === "cat" && command.args.some(isNothing);
    if (explicit || printsNothing(command)) {
      const found = judged({ command, target, explicit });
      if (found !== undefined) return found;
    }
  }
  return undefined;
};

function printsNothing({ program, args, name, input }: SimpleCommand): boolean {
  if (program === "" && args.length === 0) return name.text === "";
  if (program === ":" || program === "true" || program === "false") return true;
  if (program === "cat" && args.length === 0) return input.kind === "file" && isNothing(input.path);
  if (program !== "echo" && program !== "printf") return false;
  return args.every(({ text, known }) => known && (text === "" || text === "-n"));
}

function judged(found: {
  command: SimpleCommand;
  target: ShellWord;
  explicit: boolean;
}): Finding | undefined {
  const { command, target, explicit } = found;
  if (isDownloadPlace(target) && !command.repeated) return undefined;
  if (explicit || command.repeated) return danger("truncate.file", REASON, target);
  const { anchor, segments } = placeOf(target);
  const name = segments.at(-1) ?? "";
  const written = command.program === "echo" || command.program === "printf";
  const spare =
    SPARE.test(name) ||
    (written && /\.(?:log|out|txt|err)$/.test(name)) ||
    !name.slice(1).includes(".") ||
    name === "__init__.py";
  if (anchor === "here" && segments[0] !== ".." && spare) return undefined;
  return anchor === "unknown" && spare ? undefined : danger("truncate.file", REASON, target);
}

/** `truncate -s 0 app.db`; making a file longer or a new one of a given size is no loss. */
export const truncate: Rule = (command) => {
  if (onlyExplains(command.args)) return undefined;
  const { values, operands } = parseOptions(command.args, {
    taking: ["s", "r", "size", "reference"],
    long: ["size", "reference", "no-create", "io-blocks"],
  });
  const size = (values.get("s") ?? values.get("size"))?.at(-1)?.text.trim() ?? "";
  const shrinks = /^(?:0+[a-z]*$|[-<]|[/%])/i.test(size);
  const target = operands.find((word) => !isDownloadPlace(word) || command.repeated);
  if (target === undefined) return undefined;
  return shrinks || isSystemLog(target) || /\.(?:db|sqlite3?|mdb|ibd)$/i.test(target.text)
    ? danger("truncate.file", REASON, target)
    : undefined;
};

/** Appending is what logs are for; anything else takes records away. */
export const overwritesLog: Rule = (command) => {
  const write = writesOf(command).find(({ word, how }) => how === "replace" && isSystemLog(word));
  return write === undefined
    ? undefined
    : danger("truncate.log", "overwrites a log of the system", write.word);
};

/** `cp /dev/null app.db`, `install /dev/null x`, `dd if=/dev/null of=x`: the content comes from nothing. */
export const replacedByNothing: Rule = (command) => {
  const fed = /^(?:tee|sponge)$/.test(command.program) && isEmptyInput(command.input);
  for (const { word, from } of writesOf(command)) {
    const nothing = fed || (from !== undefined && isNothing(from));
    if (nothing && !isQuietDevice(word) && !isDownloadPlace(word))
      return danger("truncate.file", REASON, word);
  }
  return undefined;
};

function isEmptyInput(input: SimpleCommand["input"]): boolean {
  if (input.kind === "file") return isNothing(input.path);
  if (input.kind === "text") return input.text.text === "";
  return (
    input.kind === "commands" && input.from.length > 0 && input.from.every(({ args }) => args.some(isNothing))
  );
}

function isNothing(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments.length === 2 && segments[0] === "dev" && segments[1] === "null";
}
