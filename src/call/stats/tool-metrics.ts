import type { Database } from "../../store/driver.js";
import { decodeDuration } from "./columns.js";
import { readPieces } from "./compute-stats.js";
import { readNames } from "./roll-up.js";
import { type CountedStatus, noStatuses } from "./stats.js";
import { Outcomes } from "./tally.js";

/** Upper bounds in seconds, as Prometheus has them by default, and some for calls that take a while. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Sums over all calls that were ever counted. */
export interface ToolMetrics {
  readonly tools: readonly {
    readonly tool: string;
    /** Empty for a name that no tool had. */
    readonly toolset: string;
    readonly by_status: Readonly<Record<CountedStatus, number>>;
    /** How many of the calls that ran took no longer than each of the bounds. */
    readonly buckets: readonly number[];
    readonly ran: number;
    readonly seconds: number;
  }[];
  /** How questions were answered. */
  readonly answers: Readonly<Record<string, number>>;
}

export function toolMetrics(db: Database): ToolMetrics {
  const outcomes = new Outcomes(readNames(db, "outcome"));
  const kinds = outcomes.statuses.length;
  const { places, tools } = toolsOf(readNames(db, "key"));
  const counts = new Uint32Array(tools.length * kinds);
  const buckets = new Uint32Array(tools.length * (DURATION_BOUNDS.length + 1));
  const seconds = new Float64Array(tools.length);
  for (const { columns } of readPieces(db, { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER })) {
    for (let row = 0; row < columns.rows; row += 1) {
      const place = places.get(columns.key[row] as number) ?? 0;
      const kind = columns.outcome[row] as number;
      const cell = place * kinds + kind;
      counts[cell] = (counts[cell] as number) + 1;
      if (outcomes.ran[kind] !== 1) continue;
      const took = decodeDuration(columns.duration[row] as number) / 1000;
      seconds[place] = (seconds[place] as number) + took;
      const bucket = place * (DURATION_BOUNDS.length + 1) + bucketOf(took);
      buckets[bucket] = (buckets[bucket] as number) + 1;
    }
  }
  const answers: Record<string, number> = {};
  const metrics = tools.map(([tool, toolset], place) => {
    const by_status = noStatuses();
    for (const [kind, status] of outcomes.statuses.entries()) {
      const count = counts[place * kinds + kind] ?? 0;
      if (count === 0 || status === undefined) continue;
      by_status[status] += count;
      const answer = outcomes.answers[kind] ?? "";
      if (answer !== "") answers[answer] = (answers[answer] ?? 0) + count;
    }
    const first = place * (DURATION_BOUNDS.length + 1);
    let sum = 0;
    const upTo = Array.from(buckets.subarray(first, first + DURATION_BOUNDS.length + 1), (count) => {
      sum += count;
      return sum;
    });
    return { tool, toolset, by_status, buckets: upTo.slice(0, -1), ran: sum, seconds: seconds[place] ?? 0 };
  });
  return { tools: metrics, answers };
}

function bucketOf(seconds: number): number {
  const found = DURATION_BOUNDS.findIndex((bound) => seconds <= bound);
  return found < 0 ? DURATION_BOUNDS.length : found;
}

function toolsOf(keys: ReadonlyMap<number, string>) {
  const tools: (readonly [tool: string, toolset: string])[] = [];
  const known = new Map<string, number>();
  const places = new Map<number, number>();
  for (const [id, json] of keys) {
    const [tool = "", toolset = ""] = JSON.parse(json) as readonly string[];
    // Anything can be called: names that no tool had are one row.
    const name = JSON.stringify(toolset === "" ? ["", ""] : [tool, toolset]);
    const place = known.get(name) ?? tools.push(toolset === "" ? ["", ""] : [tool, toolset]) - 1;
    known.set(name, place);
    places.set(id, place);
  }
  return { tools, places };
}
