import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";

/** A list written as one line: `names("stop restart")`. */
export const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** One rule under many program names. */
export function forPrograms(programs: string, rule: Rule): Record<string, Rule> {
  return Object.fromEntries(programs.split(" ").map((program) => [program, rule]));
}

export function danger(rule: string, reason: string, word?: ShellWord): Finding {
  return { level: "danger", rule, reason, span: word?.span };
}

export function hardline(rule: string, reason: string, word?: ShellWord): Finding {
  return { level: "hardline", rule, reason, span: word?.span };
}

/**
 * `--help` and `--version` turn a program into a printer of text, but only in front of the operands: what
 * stops reading options at the first operand would take a later one for a file name.
 */
export function onlyExplains(args: readonly ShellWord[], extra = ""): boolean {
  for (const { text } of args) {
    if (text === "--help" || text === "--version" || (extra !== "" && text === extra)) return true;
    if (text === "--" || !text.startsWith("-")) return false;
  }
  return false;
}

/** The same for programs that take a verb first (`systemctl stop --help`). */
export function explainsAnywhere(args: readonly ShellWord[]): boolean {
  return args.some(({ text }) => text === "--help" || text === "--version");
}

/** Arguments that are not options, values of the named options left out. */
export function operandsOf(args: readonly ShellWord[], taking = ""): readonly ShellWord[] {
  const consuming = names(taking);
  const operands: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    if (word.text === "--") return [...operands, ...args.slice(index + 1)];
    if (consuming.has(word.text)) index++;
    else if (!word.text.startsWith("-") || word.text === "-") operands.push(word);
  }
  return operands;
}

/** A rule for programs steered by a verb: danger when the operand at `at` (or any, for -1) is one of `verbs`. */
export function verbRule(spec: {
  readonly rule: string;
  readonly reason: string;
  readonly verbs: string;
  readonly at?: number;
  readonly taking?: string;
}): Rule {
  const verbs = names(spec.verbs);
  const at = spec.at ?? 0;
  return (command) => {
    if (explainsAnywhere(command.args)) return undefined;
    const operands = operandsOf(command.args, spec.taking);
    const asked = at < 0 ? operands : operands.slice(at, at + 1);
    const verb = asked.find(({ text, known }) => verbs.has(text.toLowerCase()) || (at >= 0 && !known));
    return verb === undefined ? undefined : danger(spec.rule, spec.reason, verb);
  };
}

/** Programs that print one name each, not a list of what they found. */
const NAMING = names(
  "mktemp date pwd basename dirname hostname whoami id uname echo printf realpath readlink cut tr nproc seq uuidgen",
);

function printsOneName({ program, args }: SimpleCommand): boolean {
  if (program === "git")
    return args.some(({ text }) => /^(?:rev-parse|describe|symbolic-ref|config)$/.test(text));
  return NAMING.has(program);
}

/** True when a piece of the word is a list another command printed: `$(find …)`, but not `$(date +%F)`. */
export function isListedByCommand(word: ShellWord): boolean {
  return !word.known && (word.outputs ?? []).some((command) => !printsOneName(command));
}
