import { CARRYING_PROGRAMS } from "../read/wrappers.js";
import type { Finding, Rule, ShellInput, ShellRedirect, ShellWord, SimpleCommand } from "../types.js";
import { SUBJECTS } from "./index.js";
import { judgeCode } from "./interpreters.js";
import { CLASS_FAMILIES, findingsOfEvery, programsOf, type Row, ruleOf, type Tool } from "./row.js";
import { unknownTools } from "./unknown-tools.js";
import { judgeInside } from "./windows.js";

interface RuleIndex {
  readonly byProgram: ReadonlyMap<string, readonly Rule[]>;
  /** Rows about every program, and what is no row. */
  readonly every: readonly { readonly tool: Tool; readonly row: Row }[];
  readonly any: readonly Rule[];
  /** Every name somebody reacts to. */
  readonly programs: ReadonlySet<string>;
}

let built: RuleIndex | undefined;

/** Built when the first command is judged: importing the policy stays cheap. */
export function ruleIndex(): RuleIndex {
  built ??= build();
  return built;
}

function build(): RuleIndex {
  const byProgram = new Map<string, Rule[]>();
  const every: { readonly tool: Tool; readonly row: Row }[] = [];
  const any: Rule[] = [judgeCode];
  const notable = new Set(CARRYING_PROGRAMS);
  for (const tool of SUBJECTS.flatMap(({ tools }) => tools)) {
    const rule = ruleOf(tool, askAbout);
    if (tool.program === "*") {
      every.push(...tool.rows.map((row) => ({ tool, row })));
      if (tool.carries !== undefined) any.push(rule);
      continue;
    }
    for (const program of programsOf(tool)) {
      // What they start besides is named in their words as it is by a program nobody knows.
      if (tool.isNamed === true || !CLASS_FAMILIES.has(tool.family ?? "")) notable.add(program);
      const rules = byProgram.get(program);
      if (rules === undefined) byProgram.set(program, [rule]);
      else rules.push(rule);
    }
  }
  for (const shell of ["cmd", "powershell", "pwsh"]) {
    byProgram.set(shell, [judgeInside]);
    notable.add(shell);
  }
  return {
    byProgram,
    every,
    any: [...any, unknownTools(new Set(byProgram.keys()))],
    programs: notable,
  };
}

/** What the rules for its program say about a command, the first of them. */
function askAbout(command: SimpleCommand): Finding | undefined {
  for (const rule of ruleIndex().byProgram.get(command.program) ?? []) {
    const finding = rule(command);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

/** Everything the rules have to say about one command. Commands that say the same are asked about once. */
export class Verdicts {
  readonly #known = new Map<string, Answer>();
  readonly #mayRepeat: boolean;

  /** How many will be asked about: few hardly repeat, and comparing them costs more than asking again. */
  constructor(count: number) {
    this.#mayRepeat = count > FEW;
  }

  of(command: SimpleCommand): readonly Finding[] {
    const key = this.#mayRepeat ? keyOf(command) : undefined;
    const known = key === undefined ? undefined : this.#known.get(key);
    const findings = (known && movedTo(command, known)) ?? findingsOf(command);
    if (key !== undefined && known === undefined) this.#known.set(key, { command, findings });
    return findings;
  }
}

const FEW = 4;

interface Answer {
  readonly command: SimpleCommand;
  readonly findings: readonly Finding[];
}

/** The findings about a command that says the same elsewhere; undefined when their places cannot be told. */
function movedTo(command: SimpleCommand, known: Answer): readonly Finding[] | undefined {
  if (known.findings.length === 0) return known.findings;
  const there = wordsOf(known.command);
  const here = wordsOf(command);
  const moved: Finding[] = [];
  for (const finding of known.findings) {
    const { span, ...rest } = finding;
    if (span === undefined) moved.push(finding);
    else {
      const at = there.findIndex((word) => word.span === span);
      if (at < 0 || there.findLastIndex((word) => word.span === span) !== at) return undefined;
      moved.push({ ...rest, span: here[at]?.span });
    }
  }
  return moved;
}

function wordsOf({ name, args, redirects, assignments }: SimpleCommand): readonly ShellWord[] {
  return [name, ...args, ...redirects.map(({ target }) => target), ...assignments.map(({ value }) => value)];
}

function findingsOf(command: SimpleCommand): readonly Finding[] {
  const { byProgram, every, any } = ruleIndex();
  const findings: Finding[] = [];
  const ask = (rule: Rule): void => {
    const finding = rule(command);
    if (finding !== undefined) findings.push(finding);
  };
  byProgram.get(command.program)?.forEach(ask);
  byProgram.get(`${command.program}.exe`)?.forEach(ask);
  findings.push(...findingsOfEvery(every, command));
  any.forEach(ask);
  return findings;
}

/** Longer keys cost more than asking the rules again. */
const LONGEST_KEY = 1_000;
const MOST_WORDS = 32;
const MOST_LINKED = 12;

/**
 * A text that two commands share only if no rule can tell them apart: everything about them but their places,
 * and the same about every command they are connected with by pipes and substitutions. Undefined when that
 * is too much to be worth it.
 */
export function keyOf(command: SimpleCommand): string | undefined {
  const linked = [command];
  let key = "";
  for (let at = 0; at < linked.length; at++) {
    key += ownKey(linked[at] as SimpleCommand, linked);
    if (linked.length > MOST_LINKED || key.length > LONGEST_KEY) return undefined;
  }
  return key;
}

/** Texts stand behind their length and lists behind their size, so that no text can pretend to be more than one. */
function ownKey(command: SimpleCommand, linked: SimpleCommand[]): string {
  const { program, name, args, assignments, redirects, wrappers, feeds, repeated, rounds } = command;
  if (args.length + assignments.length + redirects.length > MOST_WORDS) return TOO_LONG;
  let key = `${repeated ? "R" : "C"}${rounds},${args.length},${assignments.length},${redirects.length},${wrappers.length}`;
  key += name.text === program ? "=" : textKey(program);
  key += wordKey(name, linked);
  for (const word of args) key += wordKey(word, linked);
  for (const { name: variable, value } of assignments) key += textKey(variable) + wordKey(value, linked);
  for (const redirect of redirects) key += redirectKey(redirect, linked);
  for (const { kind, program: wrapper, user = "" } of wrappers)
    key += kind + textKey(wrapper) + textKey(user);
  return `${key}${inputKey(command.input, linked)}${linksKey(feeds, linked)}`;
}

const TOO_LONG = "-".repeat(LONGEST_KEY + 1);

function textKey(text: string): string {
  return text.length > LONGEST_KEY ? TOO_LONG : `${text.length}:${text}`;
}

function redirectKey(redirect: ShellRedirect, linked: SimpleCommand[]): string {
  const printed = "standardOutput" in redirect && redirect.standardOutput === true;
  return `${redirect.kind}${printed ? "!" : "."}${wordKey(redirect.target, linked)}`;
}

function inputKey(input: ShellInput, linked: SimpleCommand[]): string {
  switch (input.kind) {
    case "none":
      return "n";
    case "text":
      return `t${wordKey(input.text, linked)}`;
    case "file":
      return `f${wordKey(input.path, linked)}`;
    case "commands":
      return `c${linksKey(input.from, linked)}`;
  }
}

/** Whether it has a place matters as well, since findings point at it. */
function wordKey(word: ShellWord, linked: SimpleCommand[]): string {
  const { text, variables, outputs } = word;
  const form = (word.known ? 1 : 0) + (word.glob ? 2 : 0) + (word.span === undefined ? 4 : 0);
  const key = `w${form}${textKey(text)}`;
  if (variables === undefined && outputs === undefined) return key;
  return `${key}v${(variables ?? []).map(textKey).join("")}${linksKey(outputs ?? [], linked)}`;
}

const numbers = new WeakMap<readonly SimpleCommand[], number>();
let lastNumber = 0;

/** The commands of one stage of a pipe share the list of those that read them: the same list, the same commands. */
function numberOf(commands: readonly SimpleCommand[]): number {
  const known = numbers.get(commands);
  if (known !== undefined) return known;
  numbers.set(commands, ++lastNumber);
  return lastNumber;
}

function linksKey(commands: readonly SimpleCommand[], linked: SimpleCommand[]): string {
  if (commands.length === 0) return ";";
  if (commands.length > MOST_LINKED) return `#${numberOf(commands)};`;
  let key = "";
  for (const command of commands) {
    const known = linked.indexOf(command);
    key += `l${known < 0 ? linked.push(command) - 1 : known}`;
  }
  return `${key};`;
}
