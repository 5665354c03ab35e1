import type {
  CallCounts,
  GroupStats,
  JournalStats,
  SeriesPoint,
  StatsFilter,
} from "../../../../src/call/stats/stats.js";

/** `GET /v1/stats?since&until&by&tool&toolset&…`, as `hermes stats --json`. */
export const DIMENSIONS = ["tool", "toolset", "model", "environment", "session", "door"] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export type { StatsFilter };
export type Counts = Omit<CallCounts, "result_chars">;
export type GroupRow = GroupStats;
export type Point = SeriesPoint;
export type StatsAnswer = JournalStats;

/** The parts of a bar, from its foot. Nobody knows how `unknown` ended, so it counts among the failed. */
export const PARTS = ["ok", "cancelled", "denied", "timeout", "error"] as const;
export type Part = (typeof PARTS)[number];

export function partOf(point: Point, part: Part): number {
  const { by_status } = point;
  return part === "error" ? by_status.error + by_status.unknown : by_status[part];
}
