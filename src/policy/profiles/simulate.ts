import type { JournalRow } from "../../call/journal.js";
import type { Effect } from "../../tool/effects.js";
import type { PermissionPolicy } from "../engine.js";
import type { PermissionTable } from "./permission-table.js";
import { RowJudge, ruleKey } from "./row-judge.js";
import type { Answer, Level, Restriction } from "./types.js";

/** Calls that would end differently for the same reason. */
export interface Change {
  readonly tool: string;
  readonly rule: string;
  readonly reason: string;
  readonly calls: number;
  /** One of them. */
  readonly example: { readonly call_id: string; readonly effects: readonly Effect[] };
}

export interface UnusedRule {
  readonly rule: string;
  readonly list: string;
  readonly file: string;
  readonly line?: number | undefined;
}

/** Field names are part of the public interface (`hermes permissions simulate --json`). */
export interface Simulation {
  readonly profile: string;
  readonly calls: number;
  readonly unchanged: number;
  /** Calls whose arguments or effects were cut or damaged in the journal. */
  readonly unknown: number;
  /** Calls that ended before anything was decided about them. */
  readonly undecided: number;
  readonly newly_denied: readonly Change[];
  readonly newly_asked: readonly Change[];
  readonly newly_allowed: readonly Change[];
  /** Rules of the profile that no call met. */
  readonly never_fired: readonly UnusedRule[];
}

export interface SimulationOptions {
  readonly rows: readonly JournalRow[];
  readonly profile: string;
  readonly permissions: PermissionTable;
  /** Should not ask about writing outside the working folder, which the journal does not know. */
  readonly policy: PermissionPolicy;
  readonly cwd: string;
  readonly home: string;
  /** One that has judged such rows before. */
  readonly judge?: RowJudge;
}

/** What would have happened to the journalled calls under another profile. Nothing is run, nothing is asked. */
export async function simulate(options: SimulationOptions): Promise<Simulation> {
  const judge = options.judge ?? new RowJudge(options);
  const changes = { denied: new Changes(), asked: new Changes(), allowed: new Changes() };
  const fired = new Set<string>();
  const counts = { unchanged: 0, unknown: 0, undecided: 0 };
  for (const row of options.rows) {
    const before = verdictIn(row.decision);
    const judged = before === undefined ? undefined : await judge.judge(row);
    if (before === undefined) counts.undecided += 1;
    else if (judged === undefined) counts.unknown += 1;
    else {
      const { decision, effects } = judged;
      for (const rule of judged.fired) fired.add(rule);
      const after = stricter(decision.verdict, isAboutPermission(row.rule) ? "allow" : before);
      if (after === before) counts.unchanged += 1;
      else {
        const kind = after === "deny" ? "denied" : after === "allow" ? "allowed" : "asked";
        changes[kind].add(row, effects, decision);
      }
    }
  }
  return {
    profile: options.profile,
    calls: options.rows.length,
    ...counts,
    newly_denied: changes.denied.list(),
    newly_asked: changes.asked.list(),
    newly_allowed: changes.allowed.list(),
    never_fired: rulesOf(options).filter(({ rule, list, ...at }) => !fired.has(ruleKey(rule, list, at))),
  };
}

class Changes {
  readonly #found = new Map<string, Change>();

  add(
    row: JournalRow,
    effects: readonly Effect[],
    { rule, reason = "" }: { readonly rule: string; readonly reason?: string },
  ): void {
    const key = `${row.tool}\0${rule}`;
    const known = this.#found.get(key);
    this.#found.set(
      key,
      known === undefined
        ? { tool: row.tool, rule, reason, calls: 1, example: { call_id: row.call_id, effects } }
        : { ...known, calls: known.calls + 1 },
    );
  }

  list(): readonly Change[] {
    return [...this.#found.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
  }
}

/** The policy's own word; how a question was answered does not matter here. */
export function verdictIn(decision: string): Answer | undefined {
  const [verdict] = decision.split(":");
  return verdict === "allow" || verdict === "ask" || verdict === "deny" ? verdict : undefined;
}

/** A profile's word may change with the profile; danger and protected places stay what they were. */
function isAboutPermission(rule: string): boolean {
  return /^(?:profile:|global\/|yolo:|no-effects|permissions:)/.test(rule);
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

function stricter(a: Answer, b: Answer): Answer {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b;
}

const LISTS = [
  ["deny", "deny"],
  ["ask", "approval_required"],
  ["allow", "allow"],
] as const;

function rulesOf({ permissions, profile }: SimulationOptions): readonly UnusedRule[] {
  const levels = permissions.authorityOf(profile)?.levels ?? [];
  return levels.filter(({ name }) => name !== "global").flatMap(rulesOfLevel);
}

function rulesOfLevel(level: Level): readonly UnusedRule[] {
  const permissions = LISTS.flatMap(([field, list]) =>
    level[field].map(({ text, origin }) => ({ rule: `${level.name}/${text}`, list, ...origin })),
  );
  const limits = level.restrictions.flatMap((restriction) =>
    limitsOf(restriction).map((list) => ({
      rule: `${level.name}/restrictions.${restriction.permission}.${list}`,
      list,
      ...restriction.origin,
    })),
  );
  const tools = level.tools.flatMap((tool) => {
    const rule = `${level.name}/tools.${tool.tool}`;
    const own = tool.answer === undefined ? [] : [{ rule, list: "tools", ...tool.origin }];
    const parameters = tool.parameters.map(({ path, origin }) => ({
      rule: `${rule}.parameters.${path.join(".")}`,
      list: "parameters",
      ...origin,
    }));
    return [...own, ...parameters];
  });
  return [...permissions, ...limits, ...tools];
}

function limitsOf(restriction: Restriction): readonly string[] {
  return Object.keys(restriction).filter((field) => field !== "permission" && field !== "origin");
}
