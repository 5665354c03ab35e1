import { keyOf } from "../read/command-key.js";
import { CARRYING_PROGRAMS } from "../read/wrappers.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";
import { SUBJECTS } from "./index.js";
import { judgeCode } from "./interpreters.js";
import { findingsOfEvery, programsOf, type Row, ruleOf, type Tool } from "./row.js";
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
  for (const tool of SUBJECTS.flatMap(({ tools }) => tools)) {
    const rule = ruleOf(tool, askAbout);
    if (tool.program === "*") {
      every.push(...tool.rows.map((row) => ({ tool, row })));
      if (tool.carries !== undefined) any.push(rule);
      continue;
    }
    for (const program of programsOf(tool)) {
      const rules = byProgram.get(program);
      if (rules === undefined) byProgram.set(program, [rule]);
      else rules.push(rule);
    }
  }
  for (const shell of ["cmd", "powershell", "pwsh"]) byProgram.set(shell, [judgeInside]);
  return {
    byProgram,
    every,
    any: [...any, unknownTools(new Set(byProgram.keys()))],
    programs: new Set([...byProgram.keys(), ...CARRYING_PROGRAMS]),
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

  of(command: SimpleCommand): readonly Finding[] {
    const key = keyOf(command);
    const known = key === undefined ? undefined : this.#known.get(key);
    const findings = (known && movedTo(command, known)) ?? findingsOf(command);
    if (key !== undefined && known === undefined) this.#known.set(key, { command, findings });
    return findings;
  }
}

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
