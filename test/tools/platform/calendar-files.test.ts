import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CalendarAnswer } from "../../../src/tools/platform/calendar/manage.js";
import { testRuntime } from "../../support/runtime.js";

type Args = Readonly<Record<string, unknown>>;

async function calendar(flags: Args = {}) {
  const { runtime, cwd } = await testRuntime([], { builtins: true, flags });
  const session = await runtime.openSession();
  const call = (args: Args) =>
    session.call({
      name: "calendar_manage",
      arguments: { calendar: "work.ics", timezone: "Europe/Berlin", ...args },
    });
  return {
    cwd,
    call,
    file: join(cwd, "work.ics"),
    /** The answer of a call that works. */
    async manage(args: Args): Promise<CalendarAnswer> {
      const result = await call(args);
      expect(result.error).toBeUndefined();
      return result.structured as CalendarAnswer;
    },
  };
}

const starts = ({ events }: CalendarAnswer) => events.map(({ start }) => start);

describe("calendar_manage on a file", () => {
  it("creates a file that others can read, lists, changes and deletes what is in it", async () => {
    const { manage, file } = await calendar();
    const made = await manage({
      action: "create",
      title: "Review, part 1; über alles",
      start: "2026-05-04T14:00",
      end: "2026-05-04T15:30",
      location: "Room 5",
      attendees: ["ada@example.org"],
      description: "Line one\nline two",
    });
    const [event] = made.events;
    expect(event).toMatchObject({
      title: "Review, part 1; über alles",
      start: "2026-05-04T14:00:00+02:00",
      end: "2026-05-04T15:30:00+02:00",
      timezone: "Europe/Berlin",
      location: "Room 5",
      attendees: ["ada@example.org"],
      description: "Line one\nline two",
    });
    const text = readFileSync(file, "utf8");
    for (const line of [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "DTSTART;TZID=Europe/Berlin:20260504T140000",
      "BEGIN:VTIMEZONE",
      "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
      "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
      "SUMMARY:Review\\, part 1\\; über alles",
    ])
      expect(text).toContain(`${line}\r\n`);
    expect((await manage({ action: "list" })).events).toEqual([event]);
    const moved = await manage({ action: "update", id: event?.id, start: "2026-05-05T09:00", location: "" });
    expect(moved.events).toMatchObject([{ end: "2026-05-05T10:30:00+02:00", title: event?.title }]);
    expect(moved.events[0]?.location).toBeUndefined();
    expect(readFileSync(file, "utf8")).toContain("SEQUENCE:1");
    await manage({ action: "delete", id: event?.id });
    expect(await manage({ action: "list" })).toMatchObject({ events: [], total: 0 });
  });

  it("what repeats stays at its hour when clocks change", async () => {
    const { manage } = await calendar();
    await manage({
      action: "create",
      title: "Stand-up",
      start: "2026-03-27T09:00",
      rrule: "FREQ=DAILY;COUNT=5",
    });
    const week = { action: "list", start: "2026-03-20", end: "2026-04-05" };
    expect(starts(await manage(week))).toEqual([
      "2026-03-27T09:00:00+01:00",
      "2026-03-28T09:00:00+01:00",
      "2026-03-29T09:00:00+02:00",
      "2026-03-30T09:00:00+02:00",
      "2026-03-31T09:00:00+02:00",
    ]);
  });

  it("times that clocks leave out or show twice are read as the standard says", async () => {
    const { manage } = await calendar();
    await manage({ action: "create", title: "Gap", start: "2026-03-28T02:30", rrule: "FREQ=DAILY;COUNT=3" });
    const week = { action: "list", start: "2026-03-20T00:00:00Z", end: "2026-04-05T00:00:00Z" };
    const moments = starts(await manage(week)).map((start) => new Date(start).toISOString());
    expect(moments).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    const twice = await manage({ action: "create", title: "Twice", start: "2026-10-25T02:30" });
    expect(starts(twice)).toEqual(["2026-10-25T02:30:00+02:00"]);
  });

  it.each([
    ["America/New_York", "BYMONTH=3;BYDAY=2SU", "BYMONTH=11;BYDAY=1SU"],
    ["Australia/Sydney", "BYMONTH=10;BYDAY=1SU", "BYMONTH=4;BYDAY=1SU"],
    ["Asia/Kolkata", "TZOFFSETTO:+0530", "TZOFFSETFROM:+0530"],
  ])("defines the zone %s for other programs", async (timezone, ...lines) => {
    const { manage, file } = await calendar();
    await manage({ action: "create", title: "x", start: "2026-06-01T08:00", timezone });
    const text = readFileSync(file, "utf8");
    for (const line of lines) expect(text).toContain(line);
    expect(text.match(/BEGIN:VTIMEZONE/g)).toHaveLength(1);
  });

  it("one time of a repeating event can be changed or left out", async () => {
    const { manage } = await calendar();
    const { events } = await manage({
      action: "create",
      title: "Class",
      start: "2026-09-07T10:00",
      rrule: "FREQ=WEEKLY;COUNT=4",
    });
    const id = events[0]?.id;
    const autumn = { action: "list", start: "2026-09-01", end: "2026-12-01" };
    await manage({ action: "delete", id, occurrence: "2026-09-14" });
    await manage({
      action: "update",
      id,
      occurrence: "2026-09-21T10:00",
      start: "2026-09-22T16:00",
      title: "Class (moved)",
    });
    expect((await manage(autumn)).events.map(({ start, title }) => [start, title])).toEqual([
      ["2026-09-07T10:00:00+02:00", "Class"],
      ["2026-09-22T16:00:00+02:00", "Class (moved)"],
      ["2026-09-28T10:00:00+02:00", "Class"],
    ]);
    // The whole row an hour later: what was left out stays left out.
    await manage({ action: "update", id, start: "2026-09-07T11:00" });
    expect(starts(await manage(autumn))).toEqual([
      "2026-09-07T11:00:00+02:00",
      "2026-09-22T16:00:00+02:00",
      "2026-09-28T11:00:00+02:00",
    ]);
    await manage({ action: "delete", id });
    expect((await manage(autumn)).total).toBe(0);
  });

  it("a time that was moved into the stretch is found although its rule lies outside", async () => {
    const { manage } = await calendar();
    const { events } = await manage({
      action: "create",
      title: "Monthly",
      start: "2026-01-15T10:00",
      rrule: "FREQ=MONTHLY",
    });
    await manage({
      action: "update",
      id: events[0]?.id,
      occurrence: "2026-03-15",
      start: "2026-02-20T10:00",
    });
    expect(starts(await manage({ action: "list", start: "2026-02-16", end: "2026-02-28" }))).toEqual([
      "2026-02-20T10:00:00+01:00",
    ]);
  });

  it("whole days", async () => {
    const { manage } = await calendar();
    const { events } = await manage({
      action: "create",
      title: "Holiday",
      start: "2026-08-01",
      end: "2026-08-03",
    });
    expect(events).toMatchObject([{ start: "2026-08-01", end: "2026-08-03", all_day: true }]);
    expect((await manage({ action: "list", start: "2026-08-02", end: "2026-08-02" })).total).toBe(1);
    expect((await manage({ action: "list", start: "2026-08-03", end: "2026-08-03" })).total).toBe(0);
  });

  it("free_busy joins what overlaps and leaves out what takes no time", async () => {
    const { manage, file } = await calendar();
    const event = (id: string, lines: string) =>
      `BEGIN:VEVENT\r\nUID:${id}\r\nDTSTAMP:20260101T000000Z\r\n${lines}\r\nEND:VEVENT\r\n`;
    writeFileSync(
      file,
      `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n${event("a", "DTSTART:20260504T080000Z\r\nDTEND:20260504T090000Z")}${event("b", "DTSTART:20260504T083000Z\r\nDURATION:PT1H")}${event("c", "DTSTART:20260504T110000Z\r\nDTEND:20260504T120000Z\r\nTRANSP:TRANSPARENT")}${event("d", "DTSTART:20260504T130000Z\r\nDTEND:20260504T140000Z\r\nSTATUS:CANCELLED")}END:VCALENDAR\r\n`,
    );
    const answer = await manage({
      action: "free_busy",
      start: "2026-05-04T09:00",
      end: "2026-05-04T18:00",
    });
    expect(answer).toMatchObject({
      busy: [{ start: "2026-05-04T10:00:00+02:00", end: "2026-05-04T11:30:00+02:00" }],
      free: [
        { start: "2026-05-04T09:00:00+02:00", end: "2026-05-04T10:00:00+02:00" },
        { start: "2026-05-04T11:30:00+02:00", end: "2026-05-04T18:00:00+02:00" },
      ],
    });
  });

  it("keeps what it does not understand, and reads zones that only the file knows", async () => {
    const { manage, file } = await calendar();
    writeFileSync(
      file,
      [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Other//EN",
        "X-WR-CALNAME:Mine",
        "BEGIN:VTIMEZONE",
        "TZID:Our Own Time",
        "BEGIN:STANDARD",
        "DTSTART:19700101T000000",
        "TZOFFSETFROM:+0300",
        "TZOFFSETTO:+0300",
        "END:STANDARD",
        "END:VTIMEZONE",
        "BEGIN:VEVENT",
        "UID:old",
        "DTSTAMP:20260101T000000Z",
        "DTSTART;TZID=Our Own Time:20260504T120000",
        "SUMMARY:Old",
        "X-COLOUR:red",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER:-PT15M",
        "DESCRIPTION:soon",
        "END:VALARM",
        "END:VEVENT",
        "BEGIN:VTODO",
        "UID:task",
        "SUMMARY:A task",
        "END:VTODO",
        "END:VCALENDAR",
        "",
      ].join("\r\n"),
    );
    expect(starts(await manage({ action: "list" }))).toEqual(["2026-05-04T12:00:00+03:00"]);
    await manage({ action: "update", id: "old", title: "New" });
    const text = readFileSync(file, "utf8");
    for (const kept of [
      "X-WR-CALNAME:Mine",
      "X-COLOUR:red",
      "TRIGGER:-PT15M",
      "SUMMARY:A task",
      "SUMMARY:New",
    ])
      expect(text).toContain(kept);
  });

  it("two changes at once are both made", async () => {
    const { manage } = await calendar();
    const days = [1, 2, 3, 4, 5, 6].map((day) => `2026-05-0${day}T09:00`);
    await Promise.all(days.map((start) => manage({ action: "create", title: start, start })));
    expect((await manage({ action: "list" })).total).toBe(6);
  });

  it("a rule without end costs a bounded time", async () => {
    const { manage, file } = await calendar();
    writeFileSync(
      file,
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:19700101T000000Z\r\nRRULE:FREQ=SECONDLY\r\nSUMMARY:tick\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    );
    const answer = await manage({ action: "list", start: "2026-05-01", end: "2026-05-02" });
    expect(answer.note).toContain("repeats so often");
  });

  it("says that a row in UTC moves on local clocks", async () => {
    const { call } = await calendar();
    const { structured } = await call({
      action: "create",
      title: "x",
      start: "2026-05-01T09:00:00Z",
      timezone: undefined,
      rrule: "RRULE:FREQ=DAILY;UNTIL=20260503T090000Z",
    });
    expect((structured as CalendarAnswer).note).toContain("UTC");
    const listed = await call({ action: "list", start: "2026-05-01", end: "2026-05-31" });
    expect((listed.structured as CalendarAnswer).total).toBe(3);
  });

  it.each([
    [{ action: "list" }, "does not exist"],
    [{ action: "create", title: "x" }, "needs start"],
    [{ action: "create", title: "x", start: "next monday" }, "is no time"],
    [{ action: "create", title: "x", start: "2026-02-30" }, "is no time"],
    [
      { action: "create", title: "x", start: "2026-05-01T10:00", end: "2026-05-01T09:00" },
      "before it begins",
    ],
    [{ action: "create", title: "x", start: "2026-05-01T10:00", end: "2026-05-02" }, "both be"],
    [{ action: "create", title: "x", start: "2026-05-01", timezone: "Mars/Olympus" }, "no time zone"],
    [{ action: "create", title: "x", start: "2026-05-01T10:00", rrule: "every day" }, "no rule"],
    [{ action: "create", title: "x", start: "2026-05-01T10:00", rrule: "FREQ=HOPELESSLY" }, "no rule"],
    [{ action: "create", title: "x", start: "2026-05-01", attendees: ["ada"] }, "no mail address"],
    [{ action: "update", title: "x" }, "needs id"],
    [{ action: "list", calendar: "private" }, "no calendar"],
  ])("says what is wrong and writes nothing: %j", async (args, words) => {
    const { call, file } = await calendar();
    const { error } = await call(args);
    expect(error?.message).toContain(words);
    expect(() => readFileSync(file)).toThrow();
  });

  it("a file that is no calendar is left as it is", async () => {
    const { call, file } = await calendar();
    writeFileSync(file, "hello");
    expect((await call({ action: "create", title: "x", start: "2026-05-01" })).error?.message).toContain(
      "is no calendar",
    );
    expect(readFileSync(file, "utf8")).toBe("hello");
  });

  it("a configured name leads to its file; one name need not be said", async () => {
    const { call, cwd } = await calendar();
    const other = await calendar({ calendars: { home: { path: join(cwd, "home.ics") } } });
    await other.manage({ action: "create", calendar: "home", title: "x", start: "2026-05-01" });
    expect((await other.manage({ action: "list", calendar: "" })).total).toBe(1);
    expect((await call({ action: "list", calendar: "home.ics" })).error).toBeUndefined();
  });
});
