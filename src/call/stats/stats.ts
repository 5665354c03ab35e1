/** How calls end, for those who count them. What hooks and guardrails refuse counts as denied: it never began. */
export const STATUSES = ["ok", "error", "denied", "timeout", "cancelled", "unknown"] as const;
export type CountedStatus = (typeof STATUSES)[number];

export const DIMENSIONS = ["tool", "toolset", "model", "environment", "session", "door"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export type StatsFilter = Readonly<Partial<Record<Dimension, string>>>;

export interface StatsQuery {
  readonly sinceMs: number;
  /** Now when left out. */
  readonly untilMs?: number | undefined;
  readonly by?: Dimension | undefined;
  /** Only calls that have all of these names. An empty one is that of calls that have none, such as no model. */
  readonly only?: StatsFilter | undefined;
  /** Counts over time too. */
  readonly series?: boolean | undefined;
}

/** Field names are part of the public interface (`hermes stats --json`). */
export interface CallCounts {
  readonly calls: number;
  /** error + timeout + unknown: refused and cancelled calls are no fault of the tool. */
  readonly errors: number;
  readonly error_rate: number;
  readonly by_status: Readonly<Record<CountedStatus, number>>;
  readonly errors_by_code: Readonly<Record<string, number>>;
  /** Exact, over the calls that ran; absent when none did. */
  readonly p50_ms?: number | undefined;
  readonly p95_ms?: number | undefined;
  readonly p99_ms?: number | undefined;
  readonly result_chars: number;
  /** Of the results. */
  readonly bytes: number;
  readonly queued_ms: number;
  readonly approval_wait_ms: number;
  readonly repairs: number;
  readonly retries: number;
  readonly tokens: TokenCounts;
  readonly cost_usd: number;
  /** On the total, a model or a session: what definitions of tools took of the input of models, an estimate. */
  readonly definition_tokens?: number | undefined;
}

/** Of models that were asked on behalf of the calls. No token is in two parts; `result` is an estimate and no part. */
export interface TokenCounts {
  readonly input: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly output: number;
  /** What the results take in a model's window. */
  readonly result: number;
}

export interface ToolStats extends CallCounts {
  readonly tool: string;
  readonly last_error?: string | undefined;
}

export interface GroupStats extends CallCounts {
  readonly key: string;
  /** With `series`: calls in equal parts of the time that was asked for. */
  readonly spark?: readonly number[] | undefined;
}

export interface SeriesPoint {
  /** Where the span begins, in milliseconds since 1970. */
  readonly at: number;
  readonly by_status: Readonly<Record<CountedStatus, number>>;
  readonly p50_ms?: number | undefined;
  readonly p95_ms?: number | undefined;
  readonly p99_ms?: number | undefined;
}

export interface JournalStats {
  readonly total: CallCounts;
  /** Tokens and cost of those calls that no conversation has on its bill. */
  readonly unbilled: { readonly tokens: TokenCounts; readonly cost_usd: number };
  readonly tools: readonly ToolStats[];
  readonly groups?: readonly GroupStats[] | undefined;
  readonly series?: readonly SeriesPoint[] | undefined;
}

const NO_TOKENS: TokenCounts = { input: 0, cached: 0, cache_write: 0, output: 0, result: 0 };

export function noStatuses(): Record<CountedStatus, number> {
  return { ok: 0, error: 0, denied: 0, timeout: 0, cancelled: 0, unknown: 0 };
}

export function noStats(): JournalStats {
  return {
    total: {
      calls: 0,
      errors: 0,
      error_rate: 0,
      by_status: noStatuses(),
      errors_by_code: {},
      result_chars: 0,
      bytes: 0,
      queued_ms: 0,
      approval_wait_ms: 0,
      repairs: 0,
      retries: 0,
      tokens: NO_TOKENS,
      cost_usd: 0,
    },
    unbilled: { tokens: NO_TOKENS, cost_usd: 0 },
    tools: [],
  };
}

export function countedStatus(status: string): CountedStatus | undefined {
  if (status === "blocked") return "denied";
  return STATUSES.find((known) => known === status);
}
