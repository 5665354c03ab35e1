import { type ParsedOptions, parseOptions } from "../read/options.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";

/** One thing a program with sub-commands can be told to do that a person should see first. */
export interface VerbRule {
  /**
   * The sub-command words, each a `|` list of spellings; `*` is any one word, a leading `**` any number of
   * words: "volume rm|prune", "** delete".
   */
  readonly path: string;
  readonly reason: string;
  /** Further condition on options and operands. */
  readonly when?: (call: VerbCall) => boolean;
}

export interface VerbCall extends ParsedOptions {
  readonly command: SimpleCommand;
  /** What follows the words of the path. */
  readonly rest: readonly ShellWord[];
}

export interface VerbTool {
  /** First half of the rule id. */
  readonly family: string;
  /** Options, global or of a sub-command, that take the next word. */
  readonly taking?: readonly string[];
  /** `go` programs spell long options with one dash too, so there are no clusters. */
  readonly style?: "gnu" | "go";
  /** Options that only show what would happen. */
  readonly dry?: readonly string[];
  readonly verbs: readonly VerbRule[];
}

/** How many words deep a `**` looks: resource types nest, names that follow are data. */
const DEEPEST = 6;

export function verbRule(tool: VerbTool): Rule {
  const compiled = tool.verbs.map((verb) => ({ verb, steps: compile(verb.path) }));
  const dry = new Set(["help", ...(tool.dry ?? [])]);
  return (command) => {
    const parsed = readOptions(command.args, tool);
    if (asksForHelpOrDryRun(parsed, dry)) return undefined;
    for (const { verb, steps } of compiled) {
      const end = matchSteps(steps, parsed.operands);
      if (end < 0) continue;
      const call = { ...parsed, command, rest: parsed.operands.slice(end) };
      if (verb.when !== undefined && !verb.when(call)) continue;
      const word = parsed.operands[end - 1];
      return danger(`${tool.family}.${slug(word?.text ?? command.program)}`, verb.reason, word);
    }
    return undefined;
  };
}

/** The same rule under several names of one program. */
export function forPrograms(names: readonly string[], rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

export function danger(rule: string, reason: string, word?: ShellWord): Finding {
  return { level: "danger", rule, reason, span: word?.span };
}

/** True when one of the options was given at all. */
export function has(options: ParsedOptions, ...names: readonly string[]): boolean {
  return names.some((name) => options.flags.has(name));
}

/** Texts given to any of the options. */
export function valuesOf(options: ParsedOptions, ...names: readonly string[]): readonly ShellWord[] {
  return names.flatMap((name) => options.values.get(name) ?? []);
}

export function readOptions(
  args: readonly ShellWord[],
  spec: {
    readonly taking?: readonly string[];
    readonly style?: "gnu" | "go";
    readonly long?: readonly string[];
  },
): ParsedOptions {
  if (spec.style !== "go") return parseOptions(args, spec);
  const taking = new Set(spec.taking);
  const flags = new Set<string>();
  const values = new Map<string, ShellWord[]>();
  const operands: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    if (word.text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    const match = /^--?([^=-][^=]*)(?:=([\s\S]*))?$/.exec(word.text);
    const name = match?.[1];
    if (name === undefined) {
      operands.push(word);
      continue;
    }
    flags.add(name);
    const value = match?.[2] === undefined ? undefined : { ...word, text: match[2] };
    const given = value ?? (taking.has(name) ? args[++index] : undefined);
    if (given !== undefined) values.set(name, [...(values.get(name) ?? []), given]);
  }
  return { flags, values, operands };
}

function asksForHelpOrDryRun(parsed: ParsedOptions, dry: ReadonlySet<string>): boolean {
  if (parsed.operands[0]?.text === "help") return true;
  for (const name of dry) {
    if (!parsed.flags.has(name)) continue;
    const value = parsed.values.get(name)?.[0]?.text;
    if (value !== "false" && value !== "none") return true;
  }
  return false;
}

type Step = ReadonlySet<string> | "one" | "many";

function compile(path: string): readonly Step[] {
  return path
    .split(" ")
    .map((word) => (word === "**" ? "many" : word === "*" ? "one" : new Set(word.split("|"))));
}

/** Index after the last word of the path, or -1. */
function matchSteps(steps: readonly Step[], operands: readonly ShellWord[]): number {
  const [first, ...others] = steps;
  if (first === "many") {
    for (let start = 0; start < Math.min(operands.length, DEEPEST); start++) {
      if (beginsWith(operands.slice(start), others)) return start + others.length;
    }
    return -1;
  }
  return beginsWith(operands, steps) ? steps.length : -1;
}

function beginsWith(operands: readonly ShellWord[], steps: readonly Step[]): boolean {
  return steps.every((step, index) => {
    const word = operands[index];
    return word !== undefined && (!(step instanceof Set) || step.has(word.text));
  });
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "command"
  );
}
