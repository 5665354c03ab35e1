import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CalendarAnswer } from "./calendar/manage.js";
import { calendarEffects, passwordIn, readCalendar } from "./calendar/which.js";

export default defineTool({
  name: "calendar_manage",
  toolset: "calendar",
  emoji: "📅",
  description:
    "List and change events of a calendar: an .ics file, a CalDAV address or a configured name. list with start or " +
    "end shows each time of repeating events, free_busy when there is room.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["list", "create", "update", "delete", "free_busy"] },
      calendar: { type: "string" },
      id: { type: "string" },
      occurrence: { type: "string", description: "Only this one time of a repeating event" },
      title: { type: "string" },
      start: { type: "string", description: "2026-05-01T09:00, or a date for whole days" },
      end: { type: "string", description: "Of an event: for whole days the day after" },
      timezone: { type: "string", description: "Europe/Berlin; this machine's unless said" },
      rrule: { type: "string", description: "FREQ=WEEKLY;BYDAY=MO;COUNT=10" },
      attendees: { type: "array", items: { type: "string" }, maxItems: 50, description: "Mail addresses" },
      location: { type: "string" },
      description: { type: "string" },
      limit: { type: "integer", minimum: 1, maximum: 500, default: 100 },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: [
    "calendar:read",
    "calendar:write",
    "file:read",
    "file:write",
    "network:fetch",
    "network:write",
    "message:send",
  ],
  effects: ({ action, calendar, attendees = [], title }, scope) => {
    const writes = action !== "list" && action !== "free_busy";
    return [
      ...calendarEffects(calendar, { writes, scope }),
      ...(writes && readCalendar(calendar).kind !== "file" ? invitations(attendees, title) : []),
    ];
  },
  secretsIn: ({ calendar }) => {
    const password = passwordIn(calendar);
    return password === undefined ? {} : { "calendar password": password };
  },
  timeoutMs: 120_000,

  async handler(request, ctx): Promise<CalendarAnswer> {
    const { manageCalendar } = await import("./calendar/manage.js");
    return manageCalendar(request, ctx);
  },

  untrustedSource: (_args, { calendar }) => calendar,

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "A meeting every Monday, in a new calendar file",
      arguments: {
        action: "create",
        calendar: "team.ics",
        title: "Planning",
        start: "2026-03-23T09:00",
        end: "2026-03-23T09:30",
        timezone: "Europe/Berlin",
        rrule: "FREQ=WEEKLY;BYDAY=MO;COUNT=4",
      },
      result: { events: [{ title: "Planning", start: "2026-03-23T09:00:00+01:00" }] },
    },
    {
      title: "What takes place in a week in which clocks change",
      files: {
        "team.ics":
          "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:planning\r\n" +
          "DTSTAMP:20260301T120000Z\r\nDTSTART;TZID=Europe/Berlin:20260323T090000\r\n" +
          "DTEND;TZID=Europe/Berlin:20260323T093000\r\nRRULE:FREQ=DAILY;COUNT=30\r\nSUMMARY:Stand-up\r\n" +
          "END:VEVENT\r\nEND:VCALENDAR\r\n",
      },
      arguments: {
        action: "list",
        calendar: "team.ics",
        start: "2026-03-28",
        end: "2026-03-29",
        timezone: "Europe/Berlin",
      },
      result: {
        total: 2,
        events: [{ start: "2026-03-28T09:00:00+01:00" }, { start: "2026-03-29T09:00:00+02:00" }],
      },
    },
  ],
});

/** Servers write to those who are invited: to them it is a message. */
function invitations(attendees: readonly string[], title = ""): readonly Effect[] {
  const reason = `the calendar server may send invitations to ${attendees.join(", ")} for ${JSON.stringify(title)}`;
  return attendees.map((address) => ({
    action: "message:send",
    resource: `email:${address}`,
    mode: "write",
    reversible: false,
    ask: { reason, key: `email:${address}`, unlessNamed: true },
  }));
}

function humanText(out: CalendarAnswer): string {
  const verb = { create: "created", update: "changed", delete: "deleted", list: "", free_busy: "" }[
    out.action
  ];
  const rows = out.events.map(({ start, end, title, location, rrule }) => [
    mark.dim(`${start.replace("T", " ").slice(0, 16)} – ${sameDay(start, end)}`),
    mark.strong(title),
    [location, rrule].filter((part) => part !== undefined).join(" · "),
  ]);
  return [
    ...(verb === "" ? [] : [`${verb} in ${mark.path(out.calendar)}`]),
    ...(rows.length === 0 ? ["nothing"] : [columns(rows)]),
    ...(out.truncated === true ? [mark.dim(`${out.events.length} of ${out.total} events`)] : []),
    ...(out.free ?? []).map(({ start, end }) => mark.good(`free ${start} – ${end}`)),
    ...(out.note === undefined ? [] : [mark.warning(out.note)]),
  ].join("\n");
}

function sameDay(start: string, end: string): string {
  return end.slice(0, 10) === start.slice(0, 10) ? end.slice(11, 16) : end.replace("T", " ").slice(0, 16);
}
