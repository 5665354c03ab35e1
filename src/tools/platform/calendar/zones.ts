import ICAL from "ical.js";

/** Time zones by their IANA names, as the ICU data of Node knows them; files often bring no or an outdated definition. */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const parts = { year: "numeric", month: "numeric", day: "numeric" } as const;
    const clock = { hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
    const made = new Intl.DateTimeFormat("en-US", { timeZone: zone, era: "short", ...parts, ...clock });
    formats.set(zone, made);
    return made;
  } catch {
    return undefined;
  }
}

export function isZone(name: string): boolean {
  return formatOf(name) !== undefined;
}

/** The zone of this machine, which people mean who name none. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Seconds that clocks in the zone are ahead of UTC at this moment. */
export function offsetAt(zone: string, ms: number): number {
  const format = formatOf(zone);
  if (format === undefined) return 0;
  const whole = Math.floor(ms / 1000) * 1000;
  const found: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(whole)) found[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found;
  return (Date.UTC(year, month - 1, day, hour, minute, second) - whole) / 1000;
}

const DAY_MS = 86_400_000;

/**
 * Seconds ahead of UTC for a time on the clocks of the zone, given as if it were UTC. A time that comes twice is the
 * first of both, one that is left out counts as if the clocks had not been changed (RFC 5545, 3.3.5).
 */
export function offsetOnClock(zone: string, clock: number): number {
  const before = offsetAt(zone, clock - DAY_MS);
  const after = offsetAt(zone, clock + DAY_MS);
  if (before === after || offsetAt(zone, clock - before * 1000) === before) return before;
  return offsetAt(zone, clock - after * 1000) === after ? after : before;
}

class NamedZone extends ICAL.Timezone {
  override utcOffset(time: InstanceType<typeof ICAL.Time>): number {
    const { year, month, day, hour, minute, second } = time;
    return offsetOnClock(this.tzid, Date.UTC(year, month - 1, day, hour, minute, second));
  }
}

const named = new Map<string, InstanceType<typeof ICAL.Timezone>>();

export function zoneNamed(name: string): InstanceType<typeof ICAL.Timezone> {
  if (/^(?:UTC|Etc\/UTC|GMT|Z)$/i.test(name)) return ICAL.Timezone.utcTimezone;
  const zone = named.get(name) ?? new NamedZone({ tzid: name });
  named.set(name, zone);
  return zone;
}

/** Times of the calendar in zones of known names are read by those, whatever the calendar itself says of them. */
export function useNamedZones(calendar: InstanceType<typeof ICAL.Component>): void {
  const own = calendar.getTimeZoneByID.bind(calendar);
  calendar.getTimeZoneByID = (id) => (isZone(id) ? zoneNamed(id) : own(id));
}

/** VTIMEZONE of a zone around a year: what other programs need to read times in it. */
export function zoneDefinition(zone: string, year: number): InstanceType<typeof ICAL.Component> {
  const definition = new ICAL.Component("vtimezone");
  definition.addPropertyWithValue("tzid", zone);
  const first = Date.UTC(year - 1, 0, 1);
  const changes = changesBetween(zone, first, Date.UTC(year + YEARS_LOOKED_AT, 0, 1));
  const before = offsetAt(zone, first);
  if (changes.length === 0) {
    definition.addSubcomponent(observance({ from: before, to: before, onsets: [first + before * 1000] }));
    return definition;
  }
  const kinds = new Map<string, Observance>();
  for (const { at, from, to } of changes) {
    const kind = kinds.get(`${from} ${to}`) ?? { from, to, onsets: [] };
    // Onsets are told in the time that was in force until then.
    kind.onsets.push(at + from * 1000);
    kinds.set(`${from} ${to}`, kind);
  }
  for (const kind of kinds.values()) definition.addSubcomponent(observance(kind));
  return definition;
}

const YEARS_LOOKED_AT = 12;

interface Observance {
  readonly from: number;
  readonly to: number;
  /** On the clock, as if it were UTC. */
  readonly onsets: number[];
}

function observance({ from, to, onsets }: Observance): InstanceType<typeof ICAL.Component> {
  const component = new ICAL.Component(to > from ? "daylight" : "standard");
  const [first = 0, ...more] = onsets;
  component.addPropertyWithValue("dtstart", clockTime(first));
  component.addPropertyWithValue("tzoffsetfrom", ICAL.UtcOffset.fromSeconds(from));
  component.addPropertyWithValue("tzoffsetto", ICAL.UtcOffset.fromSeconds(to));
  const rule = yearlyRule(onsets);
  if (rule !== undefined) component.addPropertyWithValue("rrule", ICAL.Recur.fromString(rule));
  else for (const onset of more) component.addPropertyWithValue("rdate", clockTime(onset));
  return component;
}

/** "The last Sunday of March", when that is what all of them are. */
function yearlyRule(onsets: readonly number[]): string | undefined {
  if (onsets.length < YEARS_LOOKED_AT) return undefined;
  const read = onsets.map((onset) => {
    const date = new Date(onset);
    const day = date.getUTCDate();
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    const when = `${date.getUTCMonth() + 1} ${date.getUTCDay()} ${onset % DAY_MS}`;
    return {
      when,
      month: date.getUTCMonth() + 1,
      weekday: date.getUTCDay(),
      week: Math.ceil(day / 7),
      isLast: day + 7 > length,
    };
  });
  const [first] = read;
  if (first === undefined || read.some(({ when }) => when !== first.when)) return undefined;
  const week = read.every(({ isLast }) => isLast) ? -1 : first.week;
  if (week !== -1 && read.some((one) => one.week !== week)) return undefined;
  return `FREQ=YEARLY;BYMONTH=${first.month};BYDAY=${week}${"SU MO TU WE TH FR SA".split(" ")[first.weekday]}`;
}

function clockTime(onset: number) {
  return ICAL.Time.fromDateTimeString(new Date(onset).toISOString().slice(0, 19));
}

/** When clocks are changed: found week by week, then to the second. */
function changesBetween(zone: string, start: number, end: number) {
  const changes: { readonly at: number; readonly from: number; readonly to: number }[] = [];
  let from = offsetAt(zone, start);
  for (let week = start; week < end; week += 7 * DAY_MS) {
    const to = offsetAt(zone, week + 7 * DAY_MS);
    if (to === from) continue;
    let [early, late] = [week, week + 7 * DAY_MS];
    while (late - early > 1000) {
      const middle = Math.floor((early + late) / 2000) * 1000;
      if (offsetAt(zone, middle) === from) early = middle;
      else late = middle;
    }
    changes.push({ at: late, from, to });
    from = to;
  }
  return changes;
}
