import { quoteForShell } from "../../base/quote.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { UNKNOWN } from "../types.js";

/** Spelled so that a shell reads exactly this text as one word. */
export function quoteText(text: string): string {
  if (text !== "" && /^[\w@%+=:,./~\uFFFC-]+$/.test(text)) return text;
  return quoteForShell(text);
}

/** Patterns stay patterns, everything else is quoted. */
export function quoteWord(word: ShellWord): string {
  return word.glob && /^[\w@%+=:,./~*?[\]\uFFFC-]+$/.test(word.text) ? word.text : quoteText(word.text);
}

/**
 * One spelling for all ways to write the same command: wrappers that keep its meaning, assignments and
 * quoting are gone; raised rights, other hosts and containers are not.
 */
export function canonicalCommand(command: SimpleCommand): string {
  const through = command.wrappers
    .filter((wrapper) => wrapper.kind !== "local")
    .map((wrapper) => wrapper.program);
  const name = programText(command);
  const words = command.name.text === "" ? assigned(command) : [name, ...command.args.map(quoteWord)];
  const redirects = command.redirects.map(
    (redirect) => `${SIGNS[redirect.kind]} ${quoteWord(redirect.target)}`,
  );
  // Angle brackets never survive quoting, so no literal argument can pretend to be an unknown one.
  return [...through, ...words, ...redirects].join(" ").replaceAll(UNKNOWN, "<unknown>");
}

/** Folders whose programs are the ones their names say. */
const SYSTEM_PROGRAM = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/;

/** `/usr/bin/rm` is `rm`; `./rm` and `RM` may be anything. */
function programText({ name, program }: SimpleCommand): string {
  const plain = SYSTEM_PROGRAM.exec(name.text)?.[1] ?? name.text;
  return program !== "" && plain === program ? program : quoteWord(name);
}

/** Assignments in front of a command do not make it another one; on their own they are all there is. */
function assigned({ assignments }: SimpleCommand): readonly string[] {
  return assignments.map(({ name, value }) => `${name}=${quoteText(value.text)}`);
}

const SIGNS = { read: "<", write: ">", append: ">>", both: "<>" } as const;
