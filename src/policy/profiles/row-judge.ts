import { setImmediate as othersTurn } from "node:timers/promises";
import type { JournalRow } from "../../call/journal.js";
import type { Verdict } from "../../call/scope.js";
import { ENVIRONMENT_KINDS } from "../../config/environment-settings.gen.js";
import type { Effect } from "../../tool/effects.js";
import type { PermissionPolicy, RulesQuestion } from "../engine.js";
import type { PermissionTable } from "./permission-table.js";
import type { RuleOrigin, TraceStep } from "./types.js";

export interface RowJudgeOptions {
  readonly profile: string;
  readonly permissions: PermissionTable;
  readonly policy: PermissionPolicy;
  readonly cwd: string;
  readonly home: string;
}

export interface JudgedRow {
  readonly effects: readonly Effect[];
  readonly decision: Verdict;
  /** Keys of the rules that said something. */
  readonly fired: readonly string[];
}

/** Nobody else waits longer than this while rows are judged. */
const TURN_MS = 10;

/** What a profile says of recorded calls. Equal ones are judged once: sessions repeat themselves. */
export class RowJudge {
  readonly #options: RowJudgeOptions;
  readonly #judged = new Map<string, JudgedRow>();
  readonly #readsArguments: boolean;
  #turnBegan = performance.now();

  constructor(options: RowJudgeOptions) {
    this.#options = options;
    const authority = options.permissions.authorityOf(options.profile);
    this.#readsArguments =
      authority === undefined ||
      authority.hasToolRules ||
      authority.levels.some(({ restrictions }) =>
        restrictions.some((each) => each.max_bytes !== undefined || each.allowed_methods !== undefined),
      );
  }

  /** Undefined when the row does not hold what it takes. */
  async judge(row: JournalRow): Promise<JudgedRow | undefined> {
    const question = questionOf(row, this.#options);
    if (question === undefined) return undefined;
    const key = [row.tool, row.environment, row.effects, this.#readsArguments ? row.args : ""].join("\0");
    const known = this.#judged.get(key);
    if (known !== undefined) return known;
    if (performance.now() - this.#turnBegan > TURN_MS) {
      await othersTurn();
      this.#turnBegan = performance.now();
    }
    const { decision, trace } = this.#options.policy.explainDecision(question);
    const fired = trace.filter(isFired).map(({ rule, list, at }) => ruleKey(rule, list, at));
    const judged = { effects: question.effects, decision, fired: [...new Set(fired)] };
    this.#judged.set(key, judged);
    return judged;
  }
}

function questionOf(
  row: JournalRow,
  options: Pick<RowJudgeOptions, "profile" | "cwd" | "home">,
): RulesQuestion | undefined {
  if (row.damaged === true || row.args_bytes !== undefined) return undefined;
  const args = parsed(row.args);
  const effects = parsed(row.effects);
  if (typeof args !== "object" || args === null || !Array.isArray(effects)) return undefined;
  return {
    entry: { name: row.tool },
    args: args as Readonly<Record<string, unknown>>,
    effects: effects as readonly Effect[],
    session: { id: row.session_id, profile: options.profile, cwd: options.cwd, workspace: options.cwd },
    environment: row.environment,
    environmentKind: kindOf(row.environment),
    home: options.home,
  };
}

/** The journal has names only; those of built-in environments are their kinds. */
export function kindOf(name: string): RulesQuestion["environmentKind"] {
  return ENVIRONMENT_KINDS.find((kind) => kind === name) ?? "plugin";
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFired({ outcome }: TraceStep): boolean {
  return outcome !== "no match" && outcome !== "pass";
}

/** Names one rule in its place. */
export function ruleKey(rule: string, list: string | undefined, at: RuleOrigin | undefined): string {
  // One restriction may be written over several lines; which of them decided does not matter.
  const isLimit = rule.includes("/restrictions.");
  return [rule, list, isLimit ? "" : at?.file, isLimit ? "" : at?.line].join("\0");
}
