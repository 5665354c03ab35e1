import ICAL from "ical.js";
import { type IcalTime, isFloating, momentOf, shownTime } from "./moments.js";
import type { IcalComponent } from "./store.js";

/** An event, or one time that a repeating one takes place. */
export interface CalendarEvent {
  readonly id: string;
  readonly title: string;
  readonly start: string;
  readonly end: string;
  readonly all_day?: boolean | undefined;
  readonly timezone?: string | undefined;
  /** How it repeats. */
  readonly rrule?: string | undefined;
  /** Which time of a repeating event this is: what update and delete take as `occurrence`. */
  readonly occurrence?: string | undefined;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
  readonly attendees?: readonly string[] | undefined;
  readonly status?: string | undefined;
}

/** With the moments it is compared by. */
export interface Placed {
  readonly event: CalendarEvent;
  readonly from: number;
  readonly to: number;
  /** It takes up time: not cancelled, not marked as free. */
  readonly isBusy: boolean;
}

/** Steps through rules, for one event and for all: a rule may repeat every second for ever. */
const MAX_STEPS = 20_000;
const MAX_ALL_STEPS = 100_000;
const LONGEST_DESCRIPTION = 2_000;

/** Events as they are kept, repeating ones once. */
export function storedEvents(calendars: readonly IcalComponent[], zone: string): readonly Placed[] {
  return calendars
    .flatMap((calendar) => calendar.getAllSubcomponents("vevent"))
    .flatMap((component) => {
      const event = new ICAL.Event(component, { exceptions: [] });
      if (!hasStart(event)) return [];
      const occurrence = event.isRecurrenceException() ? { occurrence: event.recurrenceId } : {};
      return [placed(event, { start: event.startDate, end: event.endDate, ...occurrence }, zone)];
    })
    .sort(byStart);
}

/** Everything that takes place in a stretch of time, each time of what repeats. */
export function occurrencesBetween(
  calendars: readonly IcalComponent[],
  stretch: { readonly start: number; readonly end: number; readonly zone: string },
): { readonly found: readonly Placed[]; readonly isCut: boolean } {
  const found: Placed[] = [];
  const isInside = ({ from, to }: Placed) =>
    from < stretch.end && (to > stretch.start || (from === to && from === stretch.start));
  let steps = 0;
  let isCut = false;
  for (const calendar of calendars) {
    const components = calendar.getAllSubcomponents("vevent");
    for (const component of components.filter((one) => !one.hasProperty("recurrence-id"))) {
      const id = component.getFirstPropertyValue("uid");
      const exceptions = components.filter(
        (one) => one.hasProperty("recurrence-id") && one.getFirstPropertyValue("uid") === id,
      );
      const event = new ICAL.Event(component, { exceptions });
      if (!hasStart(event)) continue;
      if (!event.isRecurring()) {
        found.push(placed(event, { start: event.startDate, end: event.endDate }, stretch.zone));
        continue;
      }
      const times = event.iterator();
      for (let step = 0; ; step++) {
        if (step > MAX_STEPS || steps++ > MAX_ALL_STEPS) {
          isCut = true;
          break;
        }
        const time = nextOf(times);
        if (time === undefined || momentOf(time, stretch.zone) >= stretch.end) break;
        const { item, startDate, endDate } = event.getOccurrenceDetails(time);
        // Those that were moved come by themselves: the rule may not lead to where they are now.
        if (item !== event && isSameTime(item.recurrenceId, time)) continue;
        const one = placed(item, { start: startDate, end: endDate, occurrence: time }, stretch.zone);
        if (isInside(one)) found.push(one);
      }
    }
    for (const component of components.filter((one) => one.hasProperty("recurrence-id"))) {
      const event = new ICAL.Event(component);
      if (!hasStart(event)) continue;
      found.push(
        placed(
          event,
          { start: event.startDate, end: event.endDate, occurrence: event.recurrenceId },
          stretch.zone,
        ),
      );
    }
  }
  return { found: found.filter(isInside).sort(byStart), isCut };
}

type IcalEvent = InstanceType<typeof ICAL.Event>;

/** Undefined at the end of the rule, and where it can never be met. */
function nextOf(times: ReturnType<IcalEvent["iterator"]>): IcalTime | undefined {
  try {
    return times.next() ?? undefined;
  } catch {
    return undefined;
  }
}

function hasStart(event: IcalEvent): boolean {
  return event.component.getFirstPropertyValue("dtstart") instanceof ICAL.Time;
}

export function isSameTime(left: IcalTime | undefined, right: IcalTime): boolean {
  if (left === undefined) return false;
  if (left.isDate || right.isDate || isFloating(left) || isFloating(right))
    return left.toString() === right.toString();
  return left.toUnixTime() === right.toUnixTime();
}

function placed(
  event: IcalEvent,
  time: { readonly start: IcalTime; readonly end: IcalTime; readonly occurrence?: IcalTime },
  zone: string,
): Placed {
  const { component } = event;
  const text = (name: string) => {
    const value = component.getFirstPropertyValue(name);
    return value === null || value === "" ? undefined : String(value).slice(0, LONGEST_DESCRIPTION);
  };
  const status = text("status")?.toLowerCase();
  const attendees = component
    .getAllProperties("attendee")
    .map((one) => String(one.getFirstValue()).replace(/^mailto:/i, ""));
  const { start, end, occurrence } = time;
  const rrule = occurrence === undefined ? text("rrule") : undefined;
  return {
    event: {
      id: event.uid ?? "",
      title: text("summary") ?? "",
      start: shownTime(start),
      end: shownTime(end),
      ...(start.isDate && { all_day: true }),
      ...(!isFloating(start) && { timezone: start.zone.tzid }),
      ...(rrule !== undefined && { rrule }),
      ...(occurrence !== undefined && { occurrence: shownTime(occurrence) }),
      ...(text("location") !== undefined && { location: text("location") }),
      ...(text("description") !== undefined && { description: text("description") }),
      ...(attendees.length > 0 && { attendees }),
      ...(status !== undefined && { status }),
    },
    from: momentOf(start, zone),
    to: momentOf(end, zone),
    isBusy: status !== "cancelled" && text("transp")?.toUpperCase() !== "TRANSPARENT",
  };
}

function byStart(left: Placed, right: Placed): number {
  return left.from - right.from || left.to - right.to;
}
