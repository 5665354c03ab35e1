/** `GET /v1/stats?since&until&by`, as `hermes stats --json`. */
export const STATUSES = ["ok", "cancelled", "denied", "timeout", "error", "unknown"] as const;
export type CountedStatus = (typeof STATUSES)[number];
export const DIMENSIONS = ["tool", "toolset", "model", "environment", "session", "door"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export interface Counts {
  readonly calls: number;
  readonly errors: number;
  readonly error_rate: number;
  readonly by_status: Readonly<Record<CountedStatus, number>>;
  readonly errors_by_code: Readonly<Record<string, number>>;
  readonly p50_ms?: number | undefined;
  readonly p95_ms?: number | undefined;
  readonly p99_ms?: number | undefined;
  readonly bytes: number;
  readonly queued_ms: number;
  readonly approval_wait_ms: number;
  readonly repairs: number;
  readonly retries: number;
  readonly tokens: {
    readonly input: number;
    readonly cached: number;
    readonly cache_write: number;
    readonly output: number;
    readonly result: number;
  };
  readonly cost_usd: number;
}

export interface ToolRow extends Counts {
  readonly tool: string;
  readonly last_error?: string | undefined;
}

export interface GroupRow extends Counts {
  readonly key: string;
  /** Calls over the time that was asked for, in equal parts. */
  readonly spark?: readonly number[] | undefined;
}

export interface Point {
  readonly at: number;
  readonly by_status: Readonly<Record<CountedStatus, number>>;
  readonly p50_ms?: number | undefined;
  readonly p95_ms?: number | undefined;
  readonly p99_ms?: number | undefined;
}

export interface StatsAnswer {
  readonly total: Counts;
  readonly tools: readonly ToolRow[];
  readonly groups?: readonly GroupRow[] | undefined;
  readonly series?: readonly Point[] | undefined;
}

/** The parts of a bar, from its foot. Nobody knows how `unknown` ended, so it counts among the failed. */
export const PARTS = ["ok", "cancelled", "denied", "timeout", "error"] as const;
export type Part = (typeof PARTS)[number];

export function partOf(point: Point, part: Part): number {
  const { by_status } = point;
  return part === "error" ? by_status.error + by_status.unknown : by_status[part];
}
