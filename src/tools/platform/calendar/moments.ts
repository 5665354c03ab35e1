import ICAL from "ical.js";
import { ToolError } from "../../../tool/errors.js";
import { isZone, offsetAt, offsetOnClock, ownZone, zoneNamed } from "./zones.js";

export type IcalTime = InstanceType<typeof ICAL.Time>;

const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

export function checkedZone(zone: string | undefined): string {
  if (zone === undefined) return ownZone();
  if (isZone(zone)) return zone;
  throw new ToolError(`There is no time zone ${JSON.stringify(zone)}.`, {
    code: "invalid_arguments",
    hint: "Name it like Europe/Berlin or America/New_York.",
  });
}

/**
 * A time as it is kept in a calendar: whole days as dates, others on the clock of a zone, so that what repeats stays at
 * its hour when clocks change. What comes with an offset and without a zone is kept in UTC.
 */
export function readTime(text: string, zone: string | undefined): IcalTime {
  const { date, clock, offset } = parsed(text);
  if (date !== undefined) return ICAL.Time.fromDateString(date);
  if (offset === undefined) return onClock(clock, checkedZone(zone));
  const moment = clock - offset * 1000;
  if (zone === undefined) return onClock(moment, "UTC");
  return onClock(moment + offsetAt(checkedZone(zone), moment) * 1000, zone);
}

/** The edge of a stretch of time; a day that ends one belongs to it. */
export function readEdge(
  text: string,
  edge: { readonly zone: string | undefined; readonly isEnd: boolean },
): number {
  const zone = checkedZone(edge.zone);
  const { date, clock, offset } = parsed(text);
  if (date === undefined) return clock - (offset ?? offsetOnClock(zone, clock)) * 1000;
  const midnight = clock + (edge.isEnd ? 86_400_000 : 0);
  return midnight - offsetOnClock(zone, midnight) * 1000;
}

function parsed(text: string): { date?: string; clock: number; offset?: number | undefined } {
  const found = MOMENT.exec(text.trim());
  const [, year = "", month = "", day = "", hour, minute = "0", second = "0", zone] = found ?? [];
  const clock = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour ?? 0),
    Number(minute),
    Number(second),
  );
  const date = new Date(clock);
  const isReal =
    found !== null && date.getUTCDate() === Number(day) && date.getUTCHours() === Number(hour ?? 0);
  if (!isReal || Number(minute) > 59) {
    throw new ToolError(`${JSON.stringify(text)} is no time.`, {
      code: "invalid_arguments",
      hint: "Write it like 2026-05-01T09:30, 2026-05-01T09:30:00+02:00 or, for a whole day, 2026-05-01.",
    });
  }
  if (hour === undefined) return { date: `${year}-${month}-${day}`, clock };
  return { clock, offset: zone === undefined ? undefined : offsetOf(zone) };
}

function offsetOf(text: string): number {
  if (/^z$/i.test(text)) return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function onClock(clock: number, zone: string): IcalTime {
  const time = ICAL.Time.fromDateTimeString(new Date(clock).toISOString().slice(0, 19));
  time.zone = zoneNamed(zone);
  return time;
}

/** Milliseconds since 1970. Dates and times without a zone are meant where the reader is. */
export function momentOf(time: IcalTime, zone: string): number {
  const clock = clockOf(time);
  return isFloating(time)
    ? clock - offsetOnClock(zone, clock) * 1000
    : clock - time.zone.utcOffset(time) * 1000;
}

/** ISO 8601: a date, or a time with the offset that clocks have there and then. */
export function shownTime(time: IcalTime): string {
  const clock = new Date(clockOf(time)).toISOString();
  if (time.isDate) return clock.slice(0, 10);
  if (isFloating(time)) return clock.slice(0, 19);
  const offset = time.zone.utcOffset(time);
  if (time.zone === ICAL.Timezone.utcTimezone) return `${clock.slice(0, 19)}Z`;
  const minutes = Math.round(Math.abs(offset) / 60);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${clock.slice(0, 19)}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A moment on the clocks of a zone. */
export function shownMoment(ms: number, zone: string): string {
  return shownTime(onClock(ms + offsetAt(zone, ms) * 1000, zone));
}

export function isFloating(time: IcalTime): boolean {
  return time.isDate || time.zone === ICAL.Timezone.localTimezone;
}

function clockOf({ year, month, day, hour, minute, second }: IcalTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
