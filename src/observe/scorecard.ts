import type { JournalRow } from "../call/journal.js";
import { type Evidence, evidenceOf, hintsFrom } from "./scorecard-hints.js";

/** How one model gets along with one tool. Field names are part of the public interface (`hermes stats scorecard --json`). */
export interface Scorecard {
  readonly tool: string;
  /** Null for calls that no model made, or that were recorded before models were. */
  readonly model: string | null;
  readonly calls: number;
  readonly ok: number;
  readonly errors_by_code: Readonly<Record<string, number>>;
  /** Calls whose arguments had to be mended before they could be used. */
  readonly repaired: number;
  /** How often each parameter was mended. */
  readonly repairs: Readonly<Record<string, number>>;
  readonly retries: number;
  /** What its results take of a model's window, all together. */
  readonly result_tokens: number;
  /** Results that were too long and were cut. */
  readonly truncated: number;
  /** Over the calls that ran; absent when none did. */
  readonly p50_ms?: number;
  readonly p95_ms?: number;
  /** What a better description could prevent, with what it is told from. No argument values. */
  readonly hints: readonly string[];
}

interface Tally {
  readonly tool: string;
  readonly model: string | null;
  readonly durations: number[];
  readonly errors: Map<string, number>;
  readonly repairs: Map<string, number>;
  readonly evidence: Map<string, Evidence & { calls: number }>;
  calls: number;
  ok: number;
  repaired: number;
  retries: number;
  resultTokens: number;
  truncated: number;
}

/** One card for each tool and model that called it, those with the most trouble first. */
export function scorecards(rows: Iterable<JournalRow>): readonly Scorecard[] {
  const tallies = new Map<string, Tally>();
  for (const row of rows) {
    if (row.damaged === true || row.status === "running") continue;
    const model = row.model ?? null;
    const key = `${row.tool}\0${model ?? ""}`;
    const tally = tallies.get(key) ?? newTally(row.tool, model);
    tallies.set(key, tally);
    count(tally, row);
  }
  return [...tallies.values()].map(cardOf).sort(byTrouble);
}

function newTally(tool: string, model: string | null): Tally {
  return {
    tool,
    model,
    durations: [],
    errors: new Map(),
    repairs: new Map(),
    evidence: new Map(),
    calls: 0,
    ok: 0,
    repaired: 0,
    retries: 0,
    resultTokens: 0,
    truncated: 0,
  };
}

const RAN = new Set(["ok", "error", "timeout"]);

function count(tally: Tally, row: JournalRow): void {
  tally.calls += 1;
  if (row.status === "ok") tally.ok += 1;
  else add(tally.errors, row.error_code ?? row.status);
  if (row.duration_ms !== undefined && RAN.has(row.status)) tally.durations.push(row.duration_ms);
  tally.retries += row.retries ?? 0;
  tally.resultTokens += row.result_tokens ?? 0;
  if (row.truncated === true) tally.truncated += 1;
  if (row.repairs !== undefined) tally.repaired += 1;
  // One call is one piece of evidence, however often it made the same mistake.
  const seen = new Map(evidenceOf(row).map((each) => [`${each.kind}\0${each.parameter}`, each]));
  for (const [key, each] of seen) {
    const known = tally.evidence.get(key);
    if (known === undefined) tally.evidence.set(key, { ...each, calls: 1 });
    else known.calls += 1;
    if (each.repaired) add(tally.repairs, each.parameter);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function cardOf(tally: Tally): Scorecard {
  const { tool, model, calls, ok, repaired, retries, truncated } = tally;
  const durations = tally.durations.sort((a, b) => a - b);
  const [p50, p95] = [percentile(durations, 50), percentile(durations, 95)];
  return {
    tool,
    model,
    calls,
    ok,
    errors_by_code: Object.fromEntries(tally.errors),
    repaired,
    repairs: Object.fromEntries(tally.repairs),
    retries,
    result_tokens: tally.resultTokens,
    truncated,
    ...(p50 !== undefined && { p50_ms: p50 }),
    ...(p95 !== undefined && { p95_ms: p95 }),
    hints: hintsFrom({
      who: model === null ? "" : ` by ${model}`,
      calls,
      truncated,
      resultTokens: tally.resultTokens,
      errors: tally.errors,
      evidence: [...tally.evidence.values()],
    }),
  };
}

/** The smallest value that at least so many per cent are not above. */
function percentile(sorted: readonly number[], percent: number): number | undefined {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}

function byTrouble(a: Scorecard, b: Scorecard): number {
  const trouble = ({ calls, ok, repaired }: Scorecard) => calls - ok + repaired;
  return trouble(b) - trouble(a) || b.calls - a.calls || (a.tool < b.tool ? -1 : 1);
}
