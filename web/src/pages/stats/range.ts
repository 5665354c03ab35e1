import { setQuery } from "../../router.js";

const HOUR_MS = 3_600_000;
export const RANGES = [
  { value: "1h", label: "1 h", ms: HOUR_MS, before: "the hour before" },
  { value: "24h", label: "24 h", ms: 24 * HOUR_MS, before: "the day before" },
  { value: "7d", label: "7 d", ms: 7 * 24 * HOUR_MS, before: "the week before" },
  { value: "30d", label: "30 d", ms: 30 * 24 * HOUR_MS, before: "the 30 days before" },
] as const;
export type RangeName = (typeof RANGES)[number]["value"];

/** `until` is absent for what ends now. */
export interface Range {
  readonly name: RangeName | "own";
  readonly lengthMs: number;
  readonly from?: number;
  readonly until?: number;
  readonly before: string;
}

export function rangeFrom(query: Readonly<Record<string, string>>): Range {
  const from = Number(query.from);
  const until = Number(query.until);
  if (Number.isFinite(from) && Number.isFinite(until) && from > 0 && until > from)
    return { name: "own", from, until, lengthMs: until - from, before: "the same time before" };
  const known = RANGES.find(({ value }) => value === query.range) ?? RANGES[1];
  return { name: known.value, lengthMs: known.ms, before: known.before };
}

export function chooseRange(name: RangeName): void {
  setQuery({ range: name === "24h" ? undefined : name, from: undefined, until: undefined });
}

/** What somebody has drawn on a chart; backwards in the browser leads out of it. */
export function chooseSpan(from: number, until: number): void {
  const first = Math.round(Math.min(from, until));
  const last = Math.round(Math.max(from, until));
  if (last - first < 1_000) return;
  setQuery({ from: String(first), until: String(last) }, { replace: false });
}

const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const SECONDS = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** As short as it can be told apart at this zoom. */
export function tickText(at: number, spanMs: number): string {
  if (spanMs > 3 * 24 * HOUR_MS) return DAY.format(at);
  return (spanMs < HOUR_MS / 6 ? SECONDS : TIME).format(at);
}

export function spanText(from: number, until: number): string {
  const time = until - from < 60_000 ? SECONDS : TIME;
  if (until - from >= 24 * HOUR_MS) return `${DAY.format(from)} – ${DAY.format(until)}`;
  return `${DAY.format(from)}, ${time.format(from)} – ${time.format(until)}`;
}

const STEPS = [
  1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
].map((seconds) => seconds * 1_000);

/** At most four moments that people read off a clock or a calendar. */
export function ticks(from: number, until: number): number[] {
  const step = STEPS.find((each) => (until - from) / each <= 4.2) ?? (until - from) / 4;
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from({ length: 6 }, (_, index) => first + index * step).filter((at) => at <= until);
}
