import { expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/call/scope.js";
import type { CalendarAnswer } from "../../../src/tools/platform/calendar/manage.js";
import { type CaldavServer, PASSWORD } from "../../support/caldav-server.js";
import { testRuntime } from "../../support/runtime.js";

type Args = Readonly<Record<string, unknown>>;

/** A session with the calendar `work`. */
export async function caldav(entry: Args, flags: Args = {}) {
  const { runtime } = await testRuntime([], {
    builtins: true,
    flags: { calendars: { work: entry }, ...flags },
    env: { PATH: process.env.PATH, ADA_PASSWORD: PASSWORD },
  });
  const asked: ApprovalRequest[] = [];
  const session = await runtime.openSession({
    approver: {
      ask: async (request) => {
        asked.push(request);
        return "once";
      },
    },
  });
  const call = (args: Args) =>
    session.call({
      name: "calendar_manage",
      arguments: { calendar: "work", timezone: "Europe/Berlin", ...args },
    });
  return {
    asked,
    call,
    async manage(args: Args): Promise<CalendarAnswer> {
      const result = await call(args);
      expect(result.error).toBeUndefined();
      return result.structured as CalendarAnswer;
    },
  };
}

/** What holds on every CalDAV server. */
export function caldavBehaviour(start: (names?: readonly string[]) => Promise<CaldavServer>): void {
  it("creates, lists, changes and deletes events of a configured calendar", async () => {
    const { url, authorization } = await start();
    const { manage } = await caldav({ url, username: "ada", password_env: "ADA_PASSWORD" });
    const { events } = await manage({
      action: "create",
      title: "Stand-up",
      start: "2026-03-27T09:00",
      rrule: "FREQ=DAILY;COUNT=5",
    });
    const id = events[0]?.id;
    await manage({ action: "create", title: "Other", start: "2026-07-01T09:00" });
    const march = { action: "list", start: "2026-03-28", end: "2026-03-30" };
    expect((await manage(march)).events.map(({ start }) => start)).toEqual([
      "2026-03-28T09:00:00+01:00",
      "2026-03-29T09:00:00+02:00",
      "2026-03-30T09:00:00+02:00",
    ]);
    await manage({ action: "update", id, occurrence: "2026-03-29", start: "2026-03-29T12:00" });
    await manage({ action: "delete", id, occurrence: "2026-03-30" });
    expect((await manage(march)).events.map(({ start }) => start)).toEqual([
      "2026-03-28T09:00:00+01:00",
      "2026-03-29T12:00:00+02:00",
    ]);
    // As the server has it, not as we remember it.
    const raw = await (await fetch(url, { headers: { authorization } })).text();
    expect(raw).toContain("RECURRENCE-ID;TZID=Europe/Berlin:20260329T090000");
    expect(raw).toContain("EXDATE;TZID=Europe/Berlin:20260330T090000");
    expect(await manage({ action: "free_busy", start: "2026-03-29", end: "2026-03-29" })).toMatchObject({
      busy: [{ start: "2026-03-29T12:00:00+02:00", end: "2026-03-29T13:00:00+02:00" }],
    });
    await manage({ action: "delete", id });
    expect((await manage({ action: "list" })).events.map(({ title }) => title)).toEqual(["Other"]);
  });

  it("finds the one calendar of an account; of several it names them", async () => {
    const one = await start();
    const entry = { username: "ada", password_env: "ADA_PASSWORD" };
    const single = await caldav({ url: one.base, ...entry });
    await single.manage({ action: "create", title: "x", start: "2026-05-01" });
    expect((await single.manage({ action: "list" })).calendar).toBe(one.url);
    const mistyped = await caldav({ url: `${one.base}/ada/wrok/`, ...entry });
    for (const args of [{ action: "list" }, { action: "create", title: "y", start: "2026-05-02" }])
      expect((await mistyped.call(args)).error).toMatchObject({
        message: expect.stringContaining("404"),
        hint: expect.stringContaining("Check the address"),
      });
    expect((await single.manage({ action: "list" })).total).toBe(1);
    const two = await start(["work", "home"]);
    const several = await caldav({ url: two.base, ...entry });
    const { error } = await several.call({ action: "list" });
    expect(error?.message).toContain("several calendars");
    expect(error?.hint).toContain(`${two.base}/ada/home/`);
  });

  it("a wrong password is told without it; an address of the model's own meets the rules", async () => {
    const { url } = await start();
    const wrong = await caldav({ url, username: "ada", password: "not-this-password" });
    const { error } = await wrong.call({ action: "list" });
    expect(error?.message).toContain("401");
    expect(JSON.stringify(error)).not.toContain("not-this-password");
    const withLogin = url.replace("//", `//ada:${PASSWORD}@`);
    const closed = await wrong.call({ action: "list", calendar: withLogin });
    expect(closed.error?.code).toMatch(/denied|blocked/);
    const open = await caldav({}, { "security.allowed_hosts": ["127.0.0.1"] });
    expect((await open.call({ action: "list", calendar: withLogin })).error).toBeUndefined();
  });

  it("asks before a server may write to those who are invited", async () => {
    const { url } = await start();
    const { manage, asked } = await caldav({ url, username: "ada", password_env: "ADA_PASSWORD" });
    await manage({
      action: "create",
      title: "Talk",
      start: "2026-05-01T10:00",
      attendees: ["bob@example.org"],
    });
    expect(asked.map(({ reason }) => reason)).toEqual([
      'the calendar server may send invitations to bob@example.org for "Talk"',
    ]);
    expect((await manage({ action: "list" })).events).toMatchObject([{ attendees: ["bob@example.org"] }]);
  });

  it("changes of several at once are all made, none on top of another", async () => {
    const { url } = await start();
    const entry = { url, username: "ada", password_env: "ADA_PASSWORD" };
    const [first, second] = [await caldav(entry), await caldav(entry)];
    const { events } = await first.manage({ action: "create", title: "Plan", start: "2026-05-01T10:00" });
    const id = events[0]?.id;
    await Promise.all([
      first.manage({ action: "update", id, location: "Room 1" }),
      second.manage({ action: "update", id, description: "Bring figures" }),
    ]);
    expect((await first.manage({ action: "list" })).events).toMatchObject([
      { title: "Plan", location: "Room 1", description: "Bring figures" },
    ]);
  });
}
