import { wildcardMatches } from "../../base/wildcard.js";
import { judgeCommand } from "../../shell/analysis.js";
import { strayCommand } from "./allowed-commands.js";
import { type CommandLine, readCommandLine, wordsIn } from "./command-line.js";
import { programName, splitCommands, wordsOf } from "./command-words.js";

/** For examples and single rules; `deny` is generous, `allow` is exact. */
export function commandRuleMatches(rule: string, command: string, purpose: "allow" | "deny"): boolean {
  const line = readCommandLine(command, { segments: judgeCommand(command).segments });
  return purpose === "deny" ? deniesCommand(rule, line) : strayCommand([rule], line) === undefined;
}

/**
 * Whether a rule of `denied_commands` covers a line: each command of the rule is found in it, in order. A
 * command is found when program, options and operands of the rule are all there, in any spelling and behind any
 * wrapper; more of them change nothing. `*` stands for anything.
 */
export function deniesCommand(rule: string, line: CommandLine): boolean {
  if (squeezed(rule) === squeezed(line.text)) return true;
  const wanted = splitCommands(rule).map(wordsOf);
  if (wanted.length === 0) return false;
  // What defines functions is compared as a whole: taken apart, its pieces are too short to mean anything.
  if (/\(\s*\)\s*\{/.test(rule)) return squeezed(line.text).includes(squeezed(rule));
  return wordsIn(line).some((commands) => {
    let next = 0;
    for (const words of commands) {
      const expected = wanted[next];
      if (expected !== undefined && hasAll(expected, words)) next += 1;
    }
    return next === wanted.length;
  });
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

interface TakenApart {
  readonly options: readonly string[];
  readonly operands: readonly string[];
}

function hasAll(rule: readonly string[], words: readonly string[]): boolean {
  const [program = "", ...rest] = rule;
  if (!wildcardMatches(programName(program), programName(words[0] ?? ""))) return false;
  // `*--privileged*` may be an option, an operand, or a piece of either.
  const anywhere = rest.filter((word) => /^\*+[^*]/.test(word));
  if (!anywhere.every((word) => words.slice(1).some((other) => wildcardMatches(word, other)))) return false;
  const wanted = takeApart(rest.filter((word) => !anywhere.includes(word)));
  const given = takeApart(words.slice(1));
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
function takeApart(words: readonly string[]): TakenApart {
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
