const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Spans that people read off a clock or a calendar; none is much more than twice the one before. */
const SPANS: readonly number[] = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].map((seconds) => seconds * SECOND),
  ...[1, 2, 3, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 3, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
  ...[1, 2, 4, 7, 14, 28, 56, 112].map((days) => days * DAY),
];
const MOST_POINTS = 119;

/** How long one point of a chart is, so that there are 60 to 120 of them. */
export function spanFor(rangeMs: number): number {
  return SPANS.find((span) => rangeMs / span <= MOST_POINTS) ?? rangeMs / MOST_POINTS;
}
