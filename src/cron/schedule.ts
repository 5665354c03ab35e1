import { Cron } from "croner";
import cronstrue from "cronstrue";
import { ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";

/** A schedule that has been understood. All times are milliseconds since 1970. */
export type Schedule =
  | { readonly kind: "once"; readonly at: number }
  /** Runs lie whole periods after the anchor. */
  | { readonly kind: "interval"; readonly everyMs: number; readonly anchor: number }
  | { readonly kind: "cron"; readonly expression: string };

export const SCHEDULE_EXAMPLES =
  '"30m" (once, in 30 minutes), "every 2h", "0 9 * * 1-5" (cron: minute hour day month weekday), ' +
  '"2030-01-31T09:00" (once, at that time)';

const SHORTEST_MS = 1_000;
const LONGEST_MS = 10 * 365 * 24 * 60 * 60 * 1000;
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

export interface ScheduleSetting {
  readonly now: number;
  /** Of cron expressions and of times that name none; empty: that of this machine. */
  readonly timezone: string;
}

export function tidySchedule(given: string): string {
  return given.trim().replace(/\s+/g, " ");
}

/** Throws a ToolError that says what can be written instead. */
export function readSchedule(given: string, setting: ScheduleSetting): Schedule {
  const text = tidySchedule(given);
  const every = /^every\s+(.+)$/i.exec(text)?.[1];
  if (every !== undefined) {
    const everyMs = bounded(given, readDuration(every) ?? unreadable(given));
    return { kind: "interval", everyMs, anchor: setting.now };
  }
  const delay = readDuration(text.replace(/^in\s+/i, ""));
  if (delay !== undefined && /\d/.test(text))
    return { kind: "once", at: setting.now + bounded(given, delay) };
  if (/^\d{4}-/.test(text)) return { kind: "once", at: timeOf({ given, text }, setting) };
  return cronSchedule({ given, text }, setting);
}

/** The schedule of a job that was read before: a delay has become its time. */
export function storedSchedule(stored: {
  readonly schedule: string;
  readonly kind: Schedule["kind"];
  readonly anchorAt: number;
}): Schedule {
  const { schedule, kind, anchorAt } = stored;
  switch (kind) {
    case "once":
      return { kind, at: anchorAt };
    case "interval":
      return {
        kind,
        everyMs: readDuration(schedule.replace(/^every\s+/i, "")) ?? LONGEST_MS,
        anchor: anchorAt,
      };
    case "cron":
      return { kind, expression: schedule };
  }
}

/** The first due time that is strictly later; undefined when there is none. */
export function nextDue(
  schedule: Schedule,
  { after, timezone }: { readonly after: number; readonly timezone: string },
): number | undefined {
  switch (schedule.kind) {
    case "once":
      return schedule.at > after ? schedule.at : undefined;
    case "interval": {
      const { anchor, everyMs } = schedule;
      const periods = Math.floor((after - anchor) / everyMs) + 1;
      return anchor + Math.max(1, periods) * everyMs;
    }
    case "cron":
      return earliest(
        alternatives(schedule.expression).map((expression) =>
          cronOf(expression, timezone).nextRun(new Date(after))?.getTime(),
        ),
      );
  }
}

export function scheduleWords(schedule: Schedule, timezone: string): string {
  switch (schedule.kind) {
    case "once":
      return `once, at ${new Date(schedule.at).toISOString().replace(/\.\d+Z$/, "Z")}`;
    case "interval":
      return `every ${durationWords(schedule.everyMs).replace(/^1 (\w+)$/, "$1")}`;
    case "cron": {
      const words = cronstrue.toString(schedule.expression, { use24HourTimeFormat: true });
      return timezone === "" ? words : `${words} (${timezone})`;
    }
  }
}

/**
 * With a day of the month and a day of the week, either is enough, so the schedule is the union of two. Asked for both
 * at once, croner 11.0.0 passes over the first days of March when it is asked in February.
 */
function alternatives(expression: string): readonly string[] {
  const [minute, hour, day = "", month, weekday = ""] = expression.split(" ");
  const isOpen = (field: string) => field === "*" || field === "?";
  if (expression.startsWith("@") || isOpen(day) || isOpen(weekday) || weekday.startsWith("+"))
    return [expression];
  return [[minute, hour, day, month, "*"].join(" "), [minute, hour, "*", month, weekday].join(" ")];
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function cronOf(expression: string, timezone: string): Cron {
  return new Cron(expression, { mode: "5-part", paused: true, ...(timezone !== "" && { timezone }) });
}

/** As it was given, for messages, and with its blanks in order. */
interface Words {
  readonly given: string;
  readonly text: string;
}

function cronSchedule({ given, text: expression }: Words, { now, timezone }: ScheduleSetting): Schedule {
  const fields = expression.split(" ").length;
  if (fields !== 5 && !expression.startsWith("@")) {
    if (fields === 6 || fields === 7) {
      throw invalid(`The schedule ${JSON.stringify(given)} has ${fields} fields, and cron has five.`);
    }
    return unreadable(given);
  }
  const schedule: Schedule = { kind: "cron", expression };
  let next: number | undefined;
  try {
    next = nextDue(schedule, { after: now, timezone });
    scheduleWords(schedule, timezone);
  } catch (thrown) {
    const why = describeThrown(thrown).message.replace(/^(?:CronPattern|CronDate|TypeError): /, "");
    throw invalid(`The schedule ${JSON.stringify(given)} is no cron expression: ${why}`);
  }
  if (next === undefined) throw invalid(`The time of ${JSON.stringify(given)} never comes.`);
  return schedule;
}

function timeOf({ given, text }: Words, { now, timezone }: ScheduleSetting): number {
  const [, day, hour = "00", minute = "00", second = "00", zone] = ISO.exec(text) ?? [];
  if (day === undefined) return unreadable(given);
  const plain = `${day}T${hour}:${minute}:${second}`;
  // A day or an hour that does not exist would silently become another one.
  if (new Date(`${plain}Z`).toJSON()?.slice(0, 19) !== plain) {
    throw invalid(`There is no such time as ${JSON.stringify(given)}.`);
  }
  const at =
    zone === undefined
      ? wallTime(plain, timezone)
      : Date.parse(`${plain}${/^z$/i.test(zone) ? "Z" : zone.replace(/^(...):?(..)$/, "$1:$2")}`);
  if (at === undefined || Number.isNaN(at)) return unreadable(given);
  if (at <= now) {
    throw invalid(
      `The time ${JSON.stringify(given)} has passed: it is ${new Date(now).toISOString().replace(/\.\d+Z$/, "Z")} now.`,
    );
  }
  return at;
}

/**
 * When the clocks there show it; of two such moments the first. A time that is left out when clocks go forward is the
 * moment after the gap, as for a cron expression.
 */
function wallTime(plain: string, timezone: string): number | undefined {
  const zone = timezone === "" ? {} : { timezone };
  const at = new Cron(plain, { paused: true, allowPast: true, ...zone }).getOnce();
  if (at === null) return undefined;
  const shown = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    timeZone: timezone === "" ? undefined : timezone,
  }).format(at);
  if (shown.replace(" ", "T") === plain) return at.getTime();
  const [, month, day, hour, minute] = /-(\d+)-(\d+)T(\d+):(\d+)/.exec(plain) ?? [];
  const before = new Date(at.getTime() - DAY);
  return cronOf(`${minute} ${hour} ${day} ${month} *`, timezone).nextRun(before)?.getTime();
}

/** True for a schedule whose moments depend on where the clock hangs. */
export function isWallTime({
  schedule,
  kind,
}: {
  readonly schedule: string;
  readonly kind: Schedule["kind"];
}): boolean {
  return kind === "cron" || (kind === "once" && ISO.test(schedule) && ISO.exec(schedule)?.[5] === undefined);
}

/** The moment a time without a zone means in another one; undefined when it cannot be read there. */
export function onceIn(schedule: string, timezone: string): number | undefined {
  try {
    return timeOf({ given: schedule, text: schedule }, { now: Number.NEGATIVE_INFINITY, timezone });
  } catch {
    return undefined;
  }
}

function bounded(given: string, ms: number): number {
  if (ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms;
  throw invalid(
    `The schedule ${JSON.stringify(given)} is out of range: from one second to ten years are possible.`,
  );
}

function unreadable(given: string): never {
  throw invalid(`The schedule ${JSON.stringify(given)} cannot be read.`);
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: "invalid_arguments", hint: `Write ${SCHEDULE_EXAMPLES}.` });
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Longest first, so that words are made of the largest unit that fits. */
const UNITS = [
  { name: "week", ms: WEEK, spellings: /^(?:w|weeks?)$/ },
  { name: "day", ms: DAY, spellings: /^(?:d|days?)$/ },
  { name: "hour", ms: HOUR, spellings: /^(?:h|hrs?|hours?)$/ },
  { name: "minute", ms: MINUTE, spellings: /^(?:m|mins?|minutes?)$/ },
  { name: "second", ms: SECOND, spellings: /^(?:s|secs?|seconds?)$/ },
] as const;

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy;

/** "30m", "2 hours", "1h30m", and after "every" also "hour"; undefined when it is no such thing. */
function readDuration(given: string): number | undefined {
  const text = given.trim().toLowerCase();
  const alone = unitOf(text);
  if (alone !== undefined && text.length > 1) return alone;
  let total = 0;
  let at = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const unit = unitOf(part[2] ?? "");
    if (unit === undefined) return undefined;
    total += Number(part[1]) * unit;
    at = PART.lastIndex;
  }
  return at === text.length && total > 0 ? Math.round(total) : undefined;
}

/** "2 hours", "1 hour 30 minutes". */
function durationWords(ms: number): string {
  const words: string[] = [];
  let rest = Math.round(ms / SECOND) * SECOND;
  for (const { name, ms: size } of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.length === 0 ? "0 seconds" : words.join(" ");
}

function unitOf(word: string): number | undefined {
  return UNITS.find(({ spellings }) => spellings.test(word))?.ms;
}
