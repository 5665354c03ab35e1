import ICAL from "ical.js";
import { ToolError } from "../../../tool/errors.js";
import { type IcalTime, isFloating, readTime, shownTime } from "./moments.js";
import { isSameTime } from "./occurrences.js";
import { eventsOf, type IcalComponent } from "./store.js";
import { isZone, zoneDefinition } from "./zones.js";

export interface EventFields {
  readonly title?: string | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly timezone?: string | undefined;
  readonly rrule?: string | undefined;
  readonly attendees?: readonly string[] | undefined;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
  /** Who invites; only needed with attendees. */
  readonly organizer?: string | undefined;
}

type IcalEvent = InstanceType<typeof ICAL.Event>;

/** Looked through for the one time that is meant. */
const MAX_STEPS = 50_000;

export function createEvent(calendar: IcalComponent, fields: EventFields & { readonly id: string }): void {
  const component = new ICAL.Component("vevent");
  component.addPropertyWithValue("uid", fields.id);
  calendar.addSubcomponent(component);
  applyFields(component, fields);
}

export function updateEvent(
  calendar: IcalComponent,
  {
    id,
    occurrence,
    ...fields
  }: EventFields & { readonly id: string; readonly occurrence?: string | undefined },
): void {
  const master = masterOf(calendar, id);
  if (occurrence === undefined) {
    const before = master.startDate.clone();
    applyFields(master.component, fields);
    if (fields.start !== undefined) moveExceptions(calendar, { master, before });
    return;
  }
  if (fields.rrule !== undefined) {
    throw new ToolError("One time of a repeating event cannot repeat itself.", {
      code: "invalid_arguments",
      hint: "Leave rrule out, or change the whole event: leave occurrence out.",
    });
  }
  const time = timeMeant(master, occurrence);
  applyFields(exceptionAt(calendar, master, time).component, fields);
}

export function deleteEvent(
  calendar: IcalComponent,
  { id, occurrence }: { readonly id: string; readonly occurrence?: string | undefined },
): void {
  if (occurrence === undefined) {
    for (const component of eventsOf(calendar, id)) calendar.removeSubcomponent(component);
    return;
  }
  const master = masterOf(calendar, id);
  const time = timeMeant(master, occurrence);
  const changed = exceptionOf(calendar, id, time);
  if (changed !== undefined) calendar.removeSubcomponent(changed.component);
  const left = new ICAL.Property("exdate");
  if (!isFloating(time) && time.zone !== ICAL.Timezone.utcTimezone) left.setParameter("tzid", time.zone.tzid);
  left.setValue(time);
  master.component.addProperty(left);
  stamp(master.component);
}

function masterOf(calendar: IcalComponent, id: string): IcalEvent {
  const all = eventsOf(calendar, id);
  const component = all.find((one) => !one.hasProperty("recurrence-id")) ?? all[0];
  if (component === undefined) throw new Error(`no event ${id}`);
  return new ICAL.Event(component, { exceptions: [] });
}

/** The time of the rule that somebody means by a date or time. */
function timeMeant(master: IcalEvent, occurrence: string): IcalTime {
  const zone = isFloating(master.startDate) ? undefined : master.startDate.zone.tzid;
  const meant = readTime(occurrence, zone !== undefined && isZone(zone) ? zone : undefined);
  const isMeant = (time: IcalTime) =>
    meant.isDate && !time.isDate
      ? shownTime(time).startsWith(shownTime(meant))
      : time.zone === ICAL.Timezone.localTimezone
        ? shownTime(time) === shownTime(meant).slice(0, 19)
        : isSameTime(time, meant);
  const times = master.isRecurring() ? master.iterator() : undefined;
  const near: string[] = [];
  for (let step = 0; times !== undefined && step < MAX_STEPS; step++) {
    const time: IcalTime | null = times.next();
    if (!time) break;
    if (isMeant(time)) return time.clone();
    if (near.length < 3) near.push(shownTime(time));
    if (time.year > meant.year + 1) break;
  }
  throw new ToolError(
    master.isRecurring()
      ? `The event does not take place at ${occurrence}.`
      : "The event takes place only once, so occurrence says nothing.",
    {
      code: "invalid_arguments",
      hint: master.isRecurring()
        ? `List it first; it takes place at ${near.join(", ")} …`
        : "Leave occurrence out.",
    },
  );
}

function exceptionOf(calendar: IcalComponent, id: string, time: IcalTime): IcalEvent | undefined {
  return eventsOf(calendar, id)
    .filter((one) => one.hasProperty("recurrence-id"))
    .map((one) => new ICAL.Event(one))
    .find((one) => isSameTime(one.recurrenceId, time));
}

/** The event of this one time, made from the repeating one where it has been like all others until now. */
function exceptionAt(calendar: IcalComponent, master: IcalEvent, time: IcalTime): IcalEvent {
  const known = exceptionOf(calendar, master.uid, time);
  if (known !== undefined) return known;
  const component = new ICAL.Component(structuredClone(master.component.toJSON()));
  calendar.addSubcomponent(component);
  for (const name of ["rrule", "rdate", "exdate", "exrule"]) component.removeAllProperties(name);
  const event = new ICAL.Event(component);
  const { duration } = master;
  event.recurrenceId = time;
  event.startDate = time.clone();
  const end = time.clone();
  end.addDuration(duration);
  event.endDate = end;
  return event;
}

/** Times that were left out or changed are named by when they would have been, which has just moved. */
function moveExceptions(
  calendar: IcalComponent,
  { master, before }: { readonly master: IcalEvent; readonly before: IcalTime },
): void {
  const shift = master.startDate.subtractDate(before);
  if (shift.toSeconds() === 0 || master.startDate.isDate !== before.isDate) return;
  const named = [
    ...master.component.getAllProperties("exdate"),
    ...eventsOf(calendar, master.uid).flatMap((one) => one.getAllProperties("recurrence-id")),
  ];
  for (const property of named) {
    const moved = property.getValues().map((value: unknown) => {
      if (!(value instanceof ICAL.Time)) return value;
      const time = value.clone();
      time.addDuration(shift);
      return time;
    });
    if (moved.length === 1) property.setValue(moved[0]);
    else property.setValues(moved);
  }
}

function applyFields(component: IcalComponent, fields: EventFields): void {
  const event = new ICAL.Event(component, { exceptions: [] });
  setText(component, "summary", fields.title);
  setText(component, "location", fields.location);
  setText(component, "description", fields.description);
  if (fields.start !== undefined || fields.end !== undefined) setTimes(event, fields);
  if (fields.rrule !== undefined) setRule(event, fields.rrule);
  if (fields.attendees !== undefined) setAttendees(component, fields);
  stamp(component);
}

function setText(component: IcalComponent, name: string, value: string | undefined): void {
  if (value === undefined) return;
  if (value === "") component.removeAllProperties(name);
  else component.updatePropertyWithValue(name, value);
}

function setTimes(event: IcalEvent, { start, end, timezone }: EventFields): void {
  const { component } = event;
  const old = component.hasProperty("dtstart")
    ? { start: event.startDate, duration: event.duration }
    : undefined;
  const kept = old === undefined || isFloating(old.start) ? undefined : old.start.zone.tzid;
  const zone = timezone ?? (kept !== undefined && isZone(kept) ? kept : undefined);
  const from = start === undefined ? old?.start : readTime(start, zone);
  if (from === undefined) throw new Error("an event without a start");
  let to = from.clone();
  if (end !== undefined) to = readTime(end, zone);
  else if (old !== undefined && old.start.isDate === from.isDate) to.addDuration(old.duration);
  else to.adjust(from.isDate ? 1 : 0, from.isDate ? 0 : 1, 0, 0);
  if (to.isDate !== from.isDate) {
    throw new ToolError("start and end must both be dates, or both be times.", {
      code: "invalid_arguments",
      hint: "Whole days: 2026-05-01 and 2026-05-02. Times: 2026-05-01T09:00 and 2026-05-01T10:00.",
    });
  }
  // The end of a whole day is the day after; one who names the same day twice means that day.
  if (to.isDate && to.compare(from) === 0) to.adjust(1, 0, 0, 0);
  if (to.compare(from) < 0) {
    throw new ToolError(`The event would end (${shownTime(to)}) before it begins (${shownTime(from)}).`, {
      code: "invalid_arguments",
      hint: "Check start and end.",
    });
  }
  event.startDate = from;
  event.endDate = to;
  for (const time of [from, to]) defineZone(component, time);
}

/** Others can only read a time in a zone that the calendar defines. */
function defineZone(component: IcalComponent, time: IcalTime): void {
  const { tzid } = time.zone;
  const calendar = component.parent;
  if (isFloating(time) || time.zone === ICAL.Timezone.utcTimezone || calendar === null) return;
  const isDefined = calendar
    .getAllSubcomponents("vtimezone")
    .some((one) => one.getFirstPropertyValue("tzid") === tzid);
  if (!isDefined && isZone(tzid)) calendar.addSubcomponent(zoneDefinition(tzid, time.year));
}

function setRule(event: IcalEvent, written: string): void {
  const { component } = event;
  component.removeAllProperties("rrule");
  const text = written.trim().replace(/^RRULE:/i, "");
  if (text === "") return;
  try {
    const rule = ICAL.Recur.fromString(text);
    if (typeof rule.freq !== "string" || rule.freq === "") throw new Error("FREQ is missing");
    component.addPropertyWithValue("rrule", rule);
    if (!event.iterator().next()) throw new Error("it would never take place");
  } catch (cause) {
    throw new ToolError(
      `${JSON.stringify(written)} is no rule for repeating: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        code: "invalid_arguments",
        hint: "Write it like FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10 (RFC 5545).",
        cause,
      },
    );
  }
}

function setAttendees(component: IcalComponent, { attendees = [], organizer }: EventFields): void {
  component.removeAllProperties("attendee");
  for (const address of attendees) {
    const attendee = component.addPropertyWithValue("attendee", `mailto:${address}`);
    attendee.setParameter("partstat", "NEEDS-ACTION");
    attendee.setParameter("rsvp", "TRUE");
  }
  if (attendees.length > 0 && organizer !== undefined && !component.hasProperty("organizer"))
    component.addPropertyWithValue("organizer", `mailto:${organizer}`);
}

function stamp(component: IcalComponent): void {
  const now = ICAL.Time.fromJSDate(new Date(), true);
  const isNew = !component.hasProperty("dtstamp");
  component.updatePropertyWithValue("dtstamp", now);
  component.updatePropertyWithValue("last-modified", now);
  if (isNew) component.updatePropertyWithValue("created", now);
  else {
    const sequence = Number(component.getFirstPropertyValue("sequence") ?? 0);
    component.updatePropertyWithValue("sequence", sequence + 1);
  }
}
