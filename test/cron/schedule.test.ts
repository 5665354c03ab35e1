import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextDue, readSchedule, scheduleWords, storedSchedule } from "../../src/cron/schedule.js";
import { ToolError } from "../../src/tool/errors.js";

const NOW = Date.parse("2026-11-15T16:00:00Z");
const read = (text: string, timezone = "UTC") => readSchedule(text, { now: NOW, timezone });
const next = (text: string, after: string, timezone: string) => {
  const at = nextDue(read(text, timezone), { after: Date.parse(after), timezone });
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe("what can be written as a schedule", () => {
  it.each([
    ["30m", NOW + 30 * 60_000],
    ["in 2 hours", NOW + 2 * 3_600_000],
    ["1h30m", NOW + 90 * 60_000],
    ["45 s", NOW + 45_000],
    ["1 week", NOW + 7 * 86_400_000],
    ["2026-12-24T18:00:00Z", Date.parse("2026-12-24T18:00:00Z")],
    ["2026-12-24T18:00:00+02:00", Date.parse("2026-12-24T16:00:00Z")],
    ["2026-12-24T18:00+0200", Date.parse("2026-12-24T16:00:00Z")],
    ["2026-12-24", Date.parse("2026-12-24T00:00:00Z")],
  ])("%s is once", (text, at) => {
    expect(read(text)).toEqual({ kind: "once", at });
    expect(nextDue(read(text), { after: at, timezone: "UTC" })).toBeUndefined();
  });

  it("a time without a zone is of the configured one", () => {
    expect(read("2026-12-24T18:00", "America/New_York")).toEqual({
      kind: "once",
      at: Date.parse("2026-12-24T23:00:00Z"),
    });
  });

  it.each([
    ["every 2h", 2 * 3_600_000, "every 2 hours"],
    ["Every  90 minutes", 90 * 60_000, "every 1 hour 30 minutes"],
    ["every hour", 3_600_000, "every hour"],
    ["every 1s", 1_000, "every second"],
  ])("%s comes again", (text, everyMs, words) => {
    const schedule = read(text);
    expect(schedule).toEqual({ kind: "interval", everyMs, anchor: NOW });
    expect(scheduleWords(schedule, "")).toBe(words);
    expect(nextDue(schedule, { after: NOW, timezone: "UTC" })).toBe(NOW + everyMs);
  });

  it("cron expressions are told in words, with their zone", () => {
    expect(scheduleWords(read("0 9 * * 1-5"), "")).toBe("At 09:00, Monday through Friday");
    expect(scheduleWords(read("*/5 * * * *"), "Europe/Paris")).toBe("Every 5 minutes (Europe/Paris)");
    expect(next("0 9 * * MON-FRI", "2026-11-14T00:00:00Z", "UTC")).toBe("2026-11-16T09:00:00.000Z");
  });

  it("a day of the month or a day of the week is enough, also at the end of February", () => {
    expect(next("0 0 1 * 6", "2028-02-26T00:00:00Z", "UTC")).toBe("2028-03-01T00:00:00.000Z");
    expect(next("0 0 1 * 4", "2028-02-28T23:59:58Z", "UTC")).toBe("2028-03-01T00:00:00.000Z");
    expect(next("0 0 1 * 2", "2028-02-28T23:59:58Z", "UTC")).toBe("2028-02-29T00:00:00.000Z");
  });

  it.each([
    ["soon", /cannot be read/],
    ["", /cannot be read/],
    ["every", /cannot be read/],
    ["every blue moon", /cannot be read/],
    ["0m", /cannot be read/],
    ["every 10 ms", /cannot be read/],
    ["0.5s", /out of range/],
    ["every 99999 weeks", /out of range/],
    ["61 * * * *", /no cron expression.*61/],
    ["* * * * * *", /6 fields/],
    ["0 0 30 2 *", /never comes/],
    ["2020-01-01T00:00:00Z", /has passed/],
    ["2027-02-30T10:00:00", /no such time/],
    ["2027-01-01T25:00:00Z", /no such time/],
    ["2027-13-01", /no such time/],
    ["2027-01-01T10:00 sharp", /cannot be read/],
  ])("%j is refused with examples", (text, message) => {
    const thrown = caught(() => read(text));
    expect(thrown.message).toMatch(message);
    expect(thrown.code).toBe("invalid_arguments");
    expect(thrown.hint).toContain('"every 2h"');
  });

  it("a zone that does not exist is refused", () => {
    expect(caught(() => read("0 9 * * *", "Mars/Olympus")).message).toContain("Mars/Olympus");
  });
});

describe("when clocks are changed", () => {
  it("a time that is left out in spring runs when the clock goes on, once", () => {
    expect(next("30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Paris")).toBe("2026-03-29T01:00:00.000Z");
    expect(next("30 2 * * *", "2026-03-29T01:00:00Z", "Europe/Paris")).toBe("2026-03-30T00:30:00.000Z");
  });

  it("a time that comes twice in autumn runs once", () => {
    expect(next("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Paris")).toBe("2026-10-25T00:30:00.000Z");
    expect(next("30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Paris")).toBe("2026-10-26T01:30:00.000Z");
  });

  it("nine in the morning stays nine in the morning", () => {
    expect(next("0 9 * * *", "2026-03-28T12:00:00Z", "Europe/Paris")).toBe("2026-03-29T07:00:00.000Z");
    expect(next("0 9 * * *", "2026-03-27T12:00:00Z", "Europe/Paris")).toBe("2026-03-28T08:00:00.000Z");
  });

  it("an interval knows no clock: two hours are two hours", () => {
    const anchor = Date.parse("2026-03-28T23:30:00Z");
    const schedule = storedSchedule({ schedule: "every 2h", kind: "interval", anchorAt: anchor });
    const first = nextDue(schedule, { after: anchor, timezone: "Europe/Paris" }) ?? 0;
    expect(nextDue(schedule, { after: first, timezone: "Europe/Paris" })).toBe(anchor + 4 * 3_600_000);
  });
});

const field = (lowest: number, highest: number) =>
  fc.oneof(
    fc.constant("*"),
    fc.integer({ min: lowest, max: highest }).map(String),
    fc.integer({ min: 1, max: highest }).map((step) => `*/${step}`),
  );
const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(" "));
const duration = fc
  .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom("s", "m", "h", "d"))
  .map(([count, unit]) => `every ${count}${unit}`);
const zone = fc.constantFrom(
  "UTC",
  "Europe/Paris",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
);
const instant = fc.integer({ min: Date.parse("2026-01-01"), max: Date.parse("2028-12-31") });

describe("laws", () => {
  it("the next run is strictly later, and nothing that is due lies between", () => {
    fc.assert(
      fc.property(fc.oneof(expression, duration), zone, instant, (text, timezone, after) => {
        const schedule = readSchedule(text, { now: Date.parse("2026-01-01"), timezone });
        const first = nextDue(schedule, { after, timezone });
        if (first === undefined) throw new Error("it comes again");
        expect(first).toBeGreaterThan(after);
        // Asked from any moment in between, the answer is the same.
        const between = after + Math.floor((first - after) / 2);
        expect(nextDue(schedule, { after: between, timezone })).toBe(first);
        expect(nextDue(schedule, { after: first - 1, timezone })).toBe(first);
      }),
      { numRuns: 300 },
    );
  });

  it("what was read once is read back the same", () => {
    fc.assert(
      fc.property(fc.oneof(expression, duration), (text) => {
        const schedule = read(text);
        const anchorAt = schedule.kind === "interval" ? schedule.anchor : NOW;
        expect(storedSchedule({ schedule: text, kind: schedule.kind, anchorAt })).toEqual(schedule);
      }),
      { numRuns: 100 },
    );
  });

  it("whatever is written, the answer is a schedule or an error with examples", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "grapheme" })), (text) => {
        try {
          read(text);
        } catch (thrown) {
          expect(ToolError.isInstance(thrown)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function caught(work: () => unknown): ToolError {
  try {
    work();
  } catch (thrown) {
    if (ToolError.isInstance(thrown)) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}
