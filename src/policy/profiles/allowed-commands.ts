import { canonicalCommand } from "../../shell/read/quote.js";
import type { SimpleCommand } from "../../shell/types.js";
import type { CommandLine, Unfolded } from "./command-line.js";
import { isSequence, wordsOf } from "./command-words.js";

/**
 * The first command of a line that no rule of `allowed_commands` covers, undefined when all are covered. What
 * cannot be told in advance is covered by nothing: unknown words, lines without a command, opaque scripts.
 */
export function strayCommand(rules: readonly string[], line: CommandLine): string | undefined {
  const { unfolded, segments, text } = line;
  if (unfolded === undefined || text.includes("\0")) return text;
  if (segments.some(({ rule }) => isOpaque(rule))) return text;
  const patterns = rules.map(wordsOf);
  for (const each of unfolded) {
    if (each.commands.length === 0 || each.findings.some(({ rule }) => isOpaque(rule))) return text;
    const stray = strayIn(each, patterns);
    if (stray !== undefined) return canonicalCommand(stray);
  }
  return undefined;
}

function isOpaque(rule: string): boolean {
  return rule.startsWith("opaque.");
}

function strayIn(line: Unfolded, patterns: readonly (readonly string[])[]): SimpleCommand | undefined {
  const isListed = (command: SimpleCommand) =>
    isExact(command, line) && patterns.some((pattern) => isSequence(pattern, asListed(command)));
  const listedCarriers = line.commands.filter((each) => line.carriers.has(each) && isListed(each));
  return line.commands.find((command) => {
    if (isQuietGroup(command)) return false;
    if (line.carriers.has(command) && onlyStarts(command, line)) return false;
    return !isListed(command) && !listedCarriers.some((carrier) => namesWholly(carrier, command));
  });
}

/** As rules spell it: behind `sudo`, `ssh HOST`, `docker exec NAME`; other wrappers are gone. */
function asListed(command: SimpleCommand): readonly string[] {
  const through = command.wrappers.flatMap(({ kind, program }) => (kind === "local" ? [] : wordsOf(program)));
  return [...through, ...wordsOfCommand(command)];
}

function wordsOfCommand({ name, args }: SimpleCommand): readonly string[] {
  return [ordinaryName(name.text), ...args.map(({ text }) => text)];
}

/** Folders whose programs are the ones their names say. */
const SYSTEM_PROGRAM = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/;

function ordinaryName(name: string): string {
  return SYSTEM_PROGRAM.exec(name)?.[1] ?? name;
}

/** Nothing beside its words: no unknown piece, no variables set for it, no file, no text handed to it. */
function isExact(command: SimpleCommand, { commands }: Unfolded): boolean {
  const { name, args, assignments, input } = command;
  if (name.text === "" || !name.known || assignments.length > 0 || !isQuiet(command)) return false;
  if (!args.every(({ known }) => known)) return false;
  return input.kind !== "text" || commands.some(({ feeds }) => feeds.includes(command));
}

/** Sending output nowhere touches nothing. */
function isQuiet({ redirects }: SimpleCommand): boolean {
  return redirects.every(({ kind, target }) => kind !== "read" && target.text === "/dev/null");
}

/** `{ …; } > /dev/null`: its commands are listed for themselves. */
function isQuietGroup(command: SimpleCommand): boolean {
  return command.name.text === "{" && command.args.length === 0 && isQuiet(command);
}

const SHELLS = new Set(["sh", "bash", "dash"]);
const STARTERS = new Set("env command builtin exec nohup nice ionice timeout setsid stdbuf".split(" "));
const PLAIN_OPTION = /^(?:-[A-Za-z0-9]*|--[a-z-]+|\d+(?:\.\d+)?[smhd]?)$/;

/** Whether it adds nothing to the commands it starts, each of which is looked at by itself. */
function onlyStarts(command: SimpleCommand, line: Unfolded): boolean {
  if (!isExact(command, line)) return false;
  const [name = "", ...words] = wordsOfCommand(command);
  if (name === "eval") return true;
  const options = words.findIndex((word) => !PLAIN_OPTION.test(word));
  const rest = options === -1 ? [] : words.slice(options);
  if (SHELLS.has(name))
    return rest.length === 1 && words.slice(0, options).some((word) => /^-[a-z]*c$/.test(word));
  return STARTERS.has(name) && line.commands.some((other) => isSame(wordsOfCommand(other), rest));
}

/** Words that no further shell reads as anything else. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** `kubectl exec web -- ls` names the command in the container word by word. */
function namesWholly(carrier: SimpleCommand, inner: SimpleCommand): boolean {
  if (inner === carrier || inner.wrappers.every(({ kind }) => kind === "local")) return false;
  const words = wordsOfCommand(inner);
  return (
    words.every((word) => PLAIN_WORD.test(word)) &&
    isSame(wordsOfCommand(carrier).slice(-words.length), words) &&
    inner.assignments.length === 0
  );
}

function isSame(words: readonly string[], others: readonly string[]): boolean {
  return words.length === others.length && words.every((word, index) => word === others[index]);
}
