import { type SequenceRules, sequenceMatches, wildcardMatches } from "../../base/wildcard.js";
import { judgeCommand, outlineOf, readCommandLine } from "../../shell/analysis.js";
import type { CommandLine } from "../../shell/command-line.js";
import { canonicalCommand } from "../../shell/read/canonical.js";
import type { Run } from "../../shell/read/context.js";
import type { SimpleCommand } from "../../shell/types.js";

/** For examples and single rules; `deny` is generous, `allow` is exact. */
export function commandRuleMatches(rule: string, command: string, purpose: "allow" | "deny"): boolean {
  const line = readCommandLine(command);
  if (line === undefined) return false;
  return purpose === "deny" ? deniesCommand(rule, line) : unlistedCommand([rule], line) === undefined;
}

/** The words of each command that a rule is made of; paths of the person are spelled as they are in lines. */
function commandsOfRule(rule: string, line: CommandLine): readonly (readonly string[])[] {
  // A rule that is about more than words, a redirection for example, is taken as it is written.
  const commands = outlineOf(rule)?.commands.map(({ words, plain, assigns, span }) =>
    plain && !assigns ? words : rule.slice(...span).split(/\s+/),
  );
  return (commands ?? [rule.trim().split(/\s+/)]).map((words) => words.map((word) => line.shortPath(word)));
}

/**
 * Whether a rule of `denied_commands` covers a line: each command of the rule is found in it, in order. A
 * command is found when program, options and operands of the rule are all there, in any spelling and behind any
 * wrapper; more of them change nothing. `*` stands for anything.
 */
export function deniesCommand(rule: string, line: CommandLine): boolean {
  if (withoutBlanks(rule) === withoutBlanks(line.text)) return true;
  const wanted = commandsOfRule(rule, line);
  if (wanted.length === 0) return false;
  // What defines functions is compared as a whole: taken apart, its pieces are too short to mean anything.
  if (/\(\s*\)\s*\{/.test(rule)) return withoutBlanks(line.text).includes(withoutBlanks(rule));
  return (line.readings ?? []).some(({ commands }) => {
    let next = 0;
    for (const { program, name, args } of commands) {
      const expected = wanted[next];
      const words = [program || name.text, ...args.map(({ text }) => text)];
      if (expected !== undefined && hasAll(expected, words)) next += 1;
    }
    return next === wanted.length;
  });
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, "");
}

interface OptionsAndOperands {
  readonly options: readonly string[];
  readonly operands: readonly string[];
}

function hasAll(rule: readonly string[], words: readonly string[]): boolean {
  const [program = "", ...rest] = rule;
  if (!wildcardMatches(programName(program), programName(words[0] ?? ""))) return false;
  // `*--privileged*` may be an option, an operand, or a piece of either.
  const anywhere = rest.filter((word) => /^\*+[^*]/.test(word));
  if (!anywhere.every((word) => words.slice(1).some((other) => wildcardMatches(word, other)))) return false;
  const wanted = splitOptions(rest.filter((word) => !anywhere.includes(word)));
  const given = splitOptions(words.slice(1));
  if (!wanted.options.every((option) => given.options.some((other) => isSameOption(option, other)))) {
    return false;
  }
  let next = 0;
  const operands = wanted.operands.filter((operand) => operand !== "*");
  for (const operand of given.operands) {
    const expected = operands[next];
    if (expected !== undefined && isSameOperand(expected, operand)) next += 1;
  }
  return next === operands.length;
}

/** `-rf` counts as `-r -f`; what follows `--` is no option. */
function splitOptions(words: readonly string[]): OptionsAndOperands {
  const options: string[] = [];
  const operands: string[] = [];
  let ended = false;
  for (const word of words) {
    if (ended || !word.startsWith("-") || word === "-") operands.push(word);
    else if (word === "--") ended = true;
    else if (word.startsWith("--")) options.push(word.replace(/=.*$/s, ""));
    else for (const letter of word.slice(1)) options.push(`-${letter}`);
  }
  return { options, operands };
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  "-r": "--recursive",
  "-f": "--force",
  "-a": "--all",
  "-d": "--delete",
};

function isSameOption(wanted: string, given: string): boolean {
  if (wildcardMatches(wanted.toLowerCase(), given.toLowerCase())) return true;
  const long = (option: string) => LONG_NAMES[option.toLowerCase()] ?? option;
  const [longer, shorter] = [long(wanted), long(given)];
  // A long option may be cut short as long as it is clear which one is meant.
  return shorter.length > 3 && shorter.startsWith("--") && longer.startsWith(shorter);
}

function isSameOperand(wanted: string, given: string): boolean {
  const tidy = (operand: string) => operand.replace(/(?<=.)\/+$/, "").replace(/\/{2,}/g, "/") || "/";
  return wildcardMatches(wanted, given) || wildcardMatches(tidy(wanted), tidy(given));
}

/** The last segment of a program's path, in lower case: `/usr/bin/Sudo` is `sudo`. */
function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** In `allowed_commands` a `*` alone stands for any number of words. */
const WORDS: SequenceRules<string, string> = { isRun: (part) => part === "*", takes: wildcardMatches };

/**
 * The first command of a line that no rule of `allowed_commands` covers, undefined when all are covered. What
 * cannot be told in advance is covered by nothing: unknown words, lines without a command, opaque scripts.
 */
export function unlistedCommand(rules: readonly string[], line: CommandLine): string | undefined {
  const { readings, text } = line;
  if (readings === undefined || text.includes("\0")) return text;
  if (judgeCommand(text, line.options).segments.some(({ rule }) => isOpaque(rule))) return text;
  if (isWrittenOut(rules, line)) return undefined;
  const patterns = rules.flatMap((rule) => {
    const commands = commandsOfRule(rule, line);
    return commands.length === 1 ? commands : [];
  });
  for (const each of readings) {
    if (each.commands.length === 0 || each.findings.some(({ rule }) => isOpaque(rule))) return text;
    const unlisted = unlistedIn(each, patterns);
    if (unlisted !== undefined) return canonicalCommand(unlisted);
  }
  return undefined;
}

/** A line that is a rule from its first to its last character leaves nothing open but what only the running shell knows. */
function isWrittenOut(rules: readonly string[], { text, readings = [] }: CommandLine): boolean {
  if (!rules.some((rule) => rule.trim() === text.trim())) return false;
  return readings.every(
    ({ commands, findings }) =>
      commands.length > 0 && commands.every(isForeseen) && !findings.some(({ rule }) => isOpaque(rule)),
  );
}

function isForeseen({ name, args, assignments, redirects, input }: SimpleCommand): boolean {
  const given = input.kind === "text" ? [input.text] : input.kind === "file" ? [input.path] : [];
  const words = [
    name,
    ...args,
    ...assignments.map(({ value }) => value),
    ...redirects.map(({ target }) => target),
  ];
  return name.text !== "" && [...words, ...given].every(({ known }) => known);
}

function isOpaque(rule: string): boolean {
  return rule.startsWith("opaque.");
}

function unlistedIn(line: Run, patterns: readonly (readonly string[])[]): SimpleCommand | undefined {
  const isListed = (command: SimpleCommand) =>
    isExact(command, line) && patterns.some((pattern) => sequenceMatches(pattern, asListed(command), WORDS));
  const listedCarriers = line.commands.filter((each) => line.carriers.has(each) && isListed(each));
  return line.commands.find((command) => {
    if (isQuietGroup(command)) return false;
    if (line.carriers.has(command) && onlyStarts(command, line)) return false;
    return !isListed(command) && !listedCarriers.some((carrier) => namesWholly(carrier, command));
  });
}

/** As rules spell it: behind `sudo`, `ssh HOST`, `docker exec NAME`; other wrappers are gone. */
function asListed(command: SimpleCommand): readonly string[] {
  const through = command.wrappers.flatMap(({ kind, program }) =>
    kind === "local" ? [] : program.split(" "),
  );
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
function isExact(command: SimpleCommand, { commands }: Run): boolean {
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
function onlyStarts(command: SimpleCommand, line: Run): boolean {
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
