import ICAL from "ical.js";
import { ToolError } from "../../../tool/errors.js";
import { useNamedZones } from "./zones.js";

export type IcalComponent = InstanceType<typeof ICAL.Component>;

/** Where events lie: in a file, or on a server that keeps each in an object of its own. */
export interface CalendarStore {
  /** As a person would call it. */
  readonly name: string;
  /** Calendars with events in them; of a stretch of time at least those that touch it. */
  load(between?: { readonly start: number; readonly end: number }): Promise<readonly IcalComponent[]>;
  add(change: { readonly id: string; edit(calendar: IcalComponent): void }): Promise<void>;
  /**
   * Changes what holds the event of this id, and nothing if somebody else has changed it meanwhile: then it is read and
   * edited again. False when there is no such event.
   */
  change(change: { readonly id: string; edit(calendar: IcalComponent): void }): Promise<boolean>;
}

/** How often a change is made anew on top of somebody else's. */
export const TRIES = 4;

export function newCalendar(): IcalComponent {
  const calendar = new ICAL.Component("vcalendar");
  calendar.addPropertyWithValue("version", "2.0");
  calendar.addPropertyWithValue("prodid", "-//Hermes Tools//EN");
  useNamedZones(calendar);
  return calendar;
}

export function parseCalendars(text: string, where: string): readonly IcalComponent[] {
  try {
    // One calendar, or several behind each other.
    const parsed: unknown[] = ICAL.parse(text.replace(/^\uFEFF/, ""));
    const all = Array.isArray(parsed[0]) ? parsed : [parsed];
    const calendars = all.map((one) => new ICAL.Component(one as unknown[]));
    if (calendars.some(({ name }) => name !== "vcalendar")) throw new Error("it holds something else");
    calendars.forEach(useNamedZones);
    return calendars;
  } catch (cause) {
    throw new ToolError(
      `${where} is no calendar: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        hint: "Name an iCalendar file (.ics).",
        cause,
      },
    );
  }
}

export function eventsOf(calendar: IcalComponent, id: string): readonly IcalComponent[] {
  return calendar.getAllSubcomponents("vevent").filter((event) => event.getFirstPropertyValue("uid") === id);
}

export function overtaken(name: string): ToolError {
  return new ToolError(`${name} is being changed by others all the time; this change was not made.`, {
    hint: "Try again in a moment.",
  });
}
