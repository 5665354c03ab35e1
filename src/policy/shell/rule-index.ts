import { RULE_SETS } from "./rules/index.js";
import type { Finding, Rule, SimpleCommand } from "./types.js";
import { CARRYING_PROGRAMS } from "./wrappers.js";

interface RuleIndex {
  readonly byProgram: ReadonlyMap<string, readonly Rule[]>;
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
  for (const { programs } of RULE_SETS) {
    for (const [program, rule] of Object.entries(programs)) {
      const rules = byProgram.get(program);
      if (rules === undefined) byProgram.set(program, [rule]);
      else rules.push(rule);
    }
  }
  return {
    byProgram,
    any: RULE_SETS.flatMap((set) => set.any ?? []),
    programs: new Set([...byProgram.keys(), ...CARRYING_PROGRAMS]),
  };
}

/** Everything the rules have to say about one command. Lines that repeat a plain command are asked about once. */
export class Verdicts {
  readonly #known = new Map<string, readonly Finding[]>();

  of(command: SimpleCommand): readonly Finding[] {
    const key = plainKey(command);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const findings = findingsOf(command);
    // A finding that points at a word belongs to that command alone.
    if (key !== undefined && findings.length === 0) this.#known.set(key, findings);
    return findings;
  }
}

function plainKey(command: SimpleCommand): string | undefined {
  const { args, redirects, assignments, input, feeds, wrappers } = command;
  if (args.length > 4 || redirects.length + assignments.length + feeds.length + wrappers.length > 0)
    return undefined;
  if (input.kind !== "none") return undefined;
  let key = `${command.name.text}\0${command.program}\0${command.repeated}`;
  for (const word of args) {
    if (word.variables !== undefined || word.outputs !== undefined) return undefined;
    key += `\0${word.glob ? "*" : ""}${word.text}`;
  }
  return key;
}

function findingsOf(command: SimpleCommand): readonly Finding[] {
  const { byProgram, any } = ruleIndex();
  const findings: Finding[] = [];
  const ask = (rule: Rule): void => {
    const finding = rule(command);
    if (finding !== undefined) findings.push(finding);
  };
  byProgram.get(command.program)?.forEach(ask);
  byProgram.get(`${command.program}.exe`)?.forEach(ask);
  any.forEach(ask);
  return findings;
}
