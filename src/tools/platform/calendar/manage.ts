import { randomUUID } from "node:crypto";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isAddress } from "../../messaging/mail/recipients.js";
import { createEvent, deleteEvent, type EventFields, updateEvent } from "./edit-event.js";
import { freeAndBusy, type Stretch } from "./free-busy.js";
import { checkedZone, readEdge, shownMoment } from "./moments.js";
import { type CalendarEvent, occurrencesBetween, storedEvents } from "./occurrences.js";
import { type CalendarStore, eventsOf, type IcalComponent } from "./store.js";
import { openCalendar } from "./which.js";

export interface CalendarRequest extends EventFields {
  readonly action: "list" | "create" | "update" | "delete" | "free_busy";
  readonly calendar?: string | undefined;
  readonly id?: string | undefined;
  readonly occurrence?: string | undefined;
  readonly limit: number;
}

export interface CalendarAnswer {
  readonly success: true;
  readonly status: "success";
  readonly action: CalendarRequest["action"];
  readonly calendar: string;
  readonly events: readonly CalendarEvent[];
  readonly total: number;
  readonly truncated?: boolean | undefined;
  /** The stretch of time that was looked at. */
  readonly between?: Stretch | undefined;
  readonly busy?: readonly Stretch[] | undefined;
  readonly free?: readonly Stretch[] | undefined;
  readonly note?: string | undefined;
}

const DAY_MS = 86_400_000;

export async function manageCalendar(request: CalendarRequest, ctx: CallContext): Promise<CalendarAnswer> {
  check(request);
  const store = await openCalendar(request.calendar, ctx);
  const events = await (request.action === "list" || request.action === "free_busy"
    ? look(request, store)
    : changed(request, store, ctx));
  return { success: true, status: "success", action: request.action, calendar: store.name, ...events };
}

type Outcome = Omit<CalendarAnswer, "success" | "status" | "action" | "calendar">;

async function look(request: CalendarRequest, store: CalendarStore): Promise<Outcome> {
  const zone = checkedZone(request.timezone);
  const between = stretchOf(request, zone);
  if (between === undefined) {
    const all = storedEvents(await store.load(), zone).map(({ event }) => event);
    return cut(all, request.limit);
  }
  const { found, isCut } = occurrencesBetween(await store.load(between), { ...between, zone });
  const shown = { start: shownMoment(between.start, zone), end: shownMoment(between.end, zone) };
  return {
    ...cut(
      found.map(({ event }) => event),
      request.limit,
    ),
    between: shown,
    ...(request.action === "free_busy" && freeAndBusy(found, { ...between, zone })),
    ...(isCut && { note: "An event repeats so often that not all of its times were looked at." }),
  };
}

function cut(events: readonly CalendarEvent[], limit: number): Outcome {
  return {
    events: events.slice(0, limit),
    total: events.length,
    ...(events.length > limit && { truncated: true }),
  };
}

/** Undefined: everything that is kept, repeating events once. */
function stretchOf({ start, end, action }: CalendarRequest, zone: string) {
  if (start === undefined && end === undefined) {
    if (action === "list") return undefined;
    const now = Date.now();
    return { start: now, end: now + 7 * DAY_MS };
  }
  const last = end === undefined ? undefined : readEdge(end, { zone, isEnd: true });
  const first = start === undefined ? (last ?? 0) - 366 * DAY_MS : readEdge(start, { zone, isEnd: false });
  const stretch = { start: first, end: last ?? first + 366 * DAY_MS };
  if (stretch.end > stretch.start) return stretch;
  throw new ToolError("The stretch of time ends before it begins.", {
    code: "invalid_arguments",
    hint: "Check start and end.",
  });
}

async function changed(request: CalendarRequest, store: CalendarStore, ctx: CallContext): Promise<Outcome> {
  const zone = checkedZone(request.timezone);
  const id = request.id ?? randomUUID();
  const fields = { ...request, id, organizer: await organizerOf(request, ctx) };
  let events: readonly CalendarEvent[] = [];
  const seen = (edit: (calendar: IcalComponent) => void) => (calendar: IcalComponent) => {
    const tell = () => {
      events = storedEvents([calendar], zone)
        .map(({ event }) => event)
        .filter((event) => event.id === id);
    };
    if (request.action === "delete") tell();
    edit(calendar);
    if (request.action !== "delete" || request.occurrence !== undefined) tell();
  };
  if (request.action === "create") {
    const edit = (calendar: IcalComponent) => {
      if (eventsOf(calendar, id).length > 0) throw taken(id);
      createEvent(calendar, fields);
    };
    await store.add({ id, edit: seen(edit) });
  } else {
    const edit = request.action === "update" ? updateEvent : deleteEvent;
    const found = await store.change({ id, edit: seen((calendar) => edit(calendar, fields)) });
    if (!found) throw unknownEvent(id, store.name);
  }
  const inUtc = events.some((event) => event.rrule !== undefined && event.timezone === "UTC");
  return {
    events,
    total: events.length,
    ...(inUtc &&
      request.action !== "delete" && {
        note: "It repeats at a time in UTC, so on local clocks it moves when they change; give timezone to avoid that.",
      }),
  };
}

/** Who invites is who mails come from, where that is known. */
async function organizerOf(
  { attendees = [] }: CalendarRequest,
  ctx: CallContext,
): Promise<string | undefined> {
  if (attendees.length === 0) return undefined;
  const { hasMailServer, senderOf } = await import("../../messaging/mail/send-mail.js");
  try {
    return hasMailServer(ctx.settings) ? senderOf(ctx.settings).address : undefined;
  } catch {
    return undefined;
  }
}

function check({ action, id, title, start, occurrence, attendees = [] }: CalendarRequest): void {
  const missing =
    action === "create"
      ? [title === undefined ? "title" : "", start === undefined ? "start" : ""]
      : action === "update" || action === "delete"
        ? [id === undefined ? "id" : ""]
        : [];
  const [first] = missing.filter((name) => name !== "");
  const wrong = attendees.find((address) => !isAddress(address));
  if (first === undefined && wrong === undefined && !(action === "create" && occurrence !== undefined))
    return;
  throw new ToolError(
    first !== undefined
      ? `${action} needs ${first}.`
      : wrong !== undefined
        ? `${JSON.stringify(wrong)} in attendees is no mail address.`
        : "create makes whole events: occurrence says nothing.",
    {
      code: "invalid_arguments",
      hint: first === "id" ? "list tells the ids of events." : `Give ${first ?? "valid values"}.`,
    },
  );
}

function unknownEvent(id: string, calendar: string): ToolError {
  return new ToolError(`There is no event ${JSON.stringify(id)} in ${calendar}.`, {
    code: "invalid_arguments",
    hint: "list tells the ids of events.",
  });
}

function taken(id: string): ToolError {
  return new ToolError(`There is an event ${JSON.stringify(id)} already.`, {
    code: "invalid_arguments",
    hint: "Leave id out, or use update.",
  });
}
