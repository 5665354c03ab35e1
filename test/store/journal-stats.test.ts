import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallIntent, CallOutcome } from "../../src/call/journal.js";
import type { SqliteJournal } from "../../src/call/sqlite-journal.js";
import { percentiles } from "../../src/call/stats/percentiles.js";
import { spanFor } from "../../src/call/stats/time-spans.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { noSync, temporaryJournals } from "../fixtures/journal/temporary-journals.js";

const open = temporaryJournals();

async function calls(
  journal: SqliteJournal,
  made: readonly (readonly [Partial<CallIntent>, Partial<CallOutcome>])[],
): Promise<void> {
  await Promise.all(
    made.map(async ([intent, outcome]) =>
      (await journal.begin(intentOf("c", intent))).end(outcomeOf(outcome)),
    ),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** By nearest rank, the slow way. */
function nearestRank(values: readonly number[], percent: number): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}

test("percentiles are exact, whatever the numbers and however many", () => {
  const numbers = fc.oneof(
    fc.array(fc.nat(50), { minLength: 1, maxLength: 3_000 }),
    fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1, maxLength: 3_000 }),
  );
  fc.assert(
    fc.property(numbers, (values) => {
      const ranks = [50, 95, 99].map((percent) => nearestRank(values, percent));
      expect(percentiles(Uint32Array.from(values), [50, 95, 99])).toEqual(ranks);
    }),
    { numRuns: 300 },
  );
  const sorted = Uint32Array.from({ length: 100_000 }, (_, index) => index);
  expect(percentiles(sorted.slice(), [50, 95, 99])).toEqual([49_999, 94_999, 98_999]);
  expect(percentiles(sorted.reverse(), [50, 95, 99])).toEqual([49_999, 94_999, 98_999]);
});

test("counts agree with the calls they were made from, however they came and whenever they were counted", async () => {
  const status = fc.constantFrom<CallOutcome["status"][]>(
    "ok",
    "error",
    "denied",
    "blocked",
    "timeout",
    "cancelled",
  );
  const call = fc.record({
    tool: fc.constantFrom("read", "write", "fetch"),
    door: fc.constantFrom("cli", "http"),
    sessionId: fc.constantFrom("s1", "s2", "s3"),
    ago: fc.nat(10_000),
    status,
    durationMs: fc.oneof(
      fc.nat(5_000_000).map((micros) => micros / 1000),
      fc.constant(5_000_000),
    ),
    resultChars: fc.nat(1_000),
    approvalWaitMs: fc.option(fc.nat(50), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(call, { maxLength: 30 }), { maxLength: 4 }), async (groups) => {
      const { journal } = await open({ syncFile: noSync, file: `${Math.random()}.db` });
      const now = Date.now();
      const since = now - 5_000;
      for (const group of groups) {
        await calls(
          journal,
          group.map(({ ago, status: ended, durationMs, resultChars, ...intent }) => [
            { ...intent, startedAt: now - ago },
            {
              status: ended,
              durationMs,
              resultChars,
              errorCode: ended === "ok" ? undefined : `code_${ended}`,
            },
          ]),
        );
        journal.keepUp();
      }
      const wanted = groups.flat().filter(({ ago }) => now - ago >= since);
      const stats = journal.stats({ sinceMs: since, by: "door", series: true });
      const check = (counts: typeof stats.total | undefined, of: typeof wanted) => {
        const ran = of.filter((one) => ["ok", "error", "timeout"].includes(one.status));
        expect(counts?.calls ?? 0).toBe(of.length);
        expect(counts?.p95_ms).toBe(
          nearestRank(
            ran.map(({ durationMs }) => durationMs),
            95,
          ),
        );
        expect(counts?.errors ?? 0).toBe(
          of.filter((one) => ["error", "timeout"].includes(one.status)).length,
        );
        expect(counts?.result_chars ?? 0).toBe(of.reduce((sum, one) => sum + one.resultChars, 0));
        expect(counts?.approval_wait_ms ?? 0).toBe(
          of.reduce((sum, one) => sum + (one.approvalWaitMs ?? 0), 0),
        );
      };
      check(stats.total, wanted);
      for (const tool of ["read", "write", "fetch"])
        check(
          stats.tools.find((row) => row.tool === tool),
          wanted.filter((one) => one.tool === tool),
        );
      for (const door of ["cli", "http"])
        check(
          stats.groups?.find((row) => row.key === door),
          wanted.filter((one) => one.door === door),
        );
      const only = { tool: "read", door: "http", session: "s2" };
      const few = journal.stats({ sinceMs: since, by: "session", series: true, only });
      const matching = wanted.filter(
        (one) => one.tool === "read" && one.door === "http" && one.sessionId === "s2",
      );
      check(few.total, matching);
      expect(few.groups?.map(({ key }) => key) ?? []).toEqual(matching.length === 0 ? [] : ["s2"]);
      expect(sum(few.groups?.[0]?.spark ?? [])).toBe(matching.length);
      expect(sum(few.series?.flatMap(({ by_status }) => Object.values(by_status)) ?? [])).toBe(
        matching.length,
      );
      const points = stats.series?.flatMap(({ by_status }) => Object.values(by_status)) ?? [];
      expect(sum(points)).toBe(wanted.length);
    }),
    { numRuns: 25 },
  );
});

describe("counting", () => {
  test("a call that runs is counted once it is over, and not twice", async () => {
    const { journal } = await open();
    const entry = await journal.begin(intentOf("slow", { durableBefore: true }));
    await calls(journal, [[{ tool: "quick" }, {}]]);
    expect(journal.stats({ sinceMs: 0 }).total.calls).toBe(1);
    await entry.end(outcomeOf({ durationMs: 7 }));
    expect(journal.stats({ sinceMs: 0 }).total.calls).toBe(2);
    expect(journal.stats({ sinceMs: 0 }).tools.find(({ tool }) => tool === "echo")?.p50_ms).toBe(7);
  });

  test("a call whose process died counts as unknown, and as an error", async () => {
    const { journal, store } = await open();
    await journal.begin(intentOf("lost", { durableBefore: true }));
    store.db.exec("UPDATE calls SET owner = 'nobody.1.1.1'");
    journal.recover();
    expect(journal.stats({ sinceMs: 0 }).total).toMatchObject({
      calls: 1,
      errors: 1,
      error_rate: 1,
      by_status: { unknown: 1 },
    });
  });

  test("denied is a status of its own and no error; what hooks refuse is denied too", async () => {
    const { journal } = await open();
    await calls(journal, [
      [{}, { status: "denied", errorCode: "denied" }],
      [{}, { status: "blocked", errorCode: "over_budget" }],
      [{}, { status: "error", errorCode: "failed" }],
    ]);
    expect(journal.stats({ sinceMs: 0 }).total).toMatchObject({
      calls: 3,
      errors: 1,
      by_status: { ok: 0, error: 1, denied: 2 },
      errors_by_code: { denied: 1, over_budget: 1, failed: 1 },
    });
  });

  test("the oldest counts leave when all together take too much room, and the names with them", async () => {
    // Room for two pieces of 8,192 calls, and not for three.
    const { journal, store } = await open({ syncFile: noSync, statsMb: 0.4 });
    const now = Date.now();
    for (const [age, session] of [
      [3_000, "old"],
      [2_000, "between"],
      [1_000, "new"],
    ] as const) {
      await calls(
        journal,
        Array.from({ length: 8_000 }, () => [{ sessionId: session, startedAt: now - age }, {}]),
      );
      journal.stats({ sinceMs: 0 });
    }
    const sessions = () =>
      journal
        .stats({ sinceMs: 0, by: "session" })
        .groups?.map(({ key }) => key)
        .sort();
    expect(sessions()).toEqual(["between", "new", "old"]);
    // Rows may stay for ever: what is counted is bounded all the same.
    expect(journal.prune(0)).toBe(0);
    expect(sessions()).toEqual(["between", "new"]);
    expect(journal.stats({ sinceMs: 0 }).total.calls).toBe(16_000);
    const names = store.db.prepare(
      "SELECT CAST(text AS TEXT) AS name FROM stats_names WHERE kind = 'session'",
    );
    expect(names.all().map(({ name }) => name)).toEqual(["between", "new"]);
  });

  test("counts outlive the rows they came from", async () => {
    const { journal, store } = await open({ syncFile: noSync });
    await calls(
      journal,
      Array.from({ length: 500 }, (_, index) => [{ sessionId: `s${index}` }, {}]),
    );
    store.db.exec("UPDATE calls SET written_at = 1");
    expect(journal.prune(30)).toBe(499);
    expect(journal.recent({ limit: 1_000 })).toHaveLength(1);
    expect(journal.stats({ sinceMs: 0, by: "session" }).groups).toHaveLength(500);
  });

  test("old rows leave by themselves in a program that lives long, once they are counted", async () => {
    const { journal, store } = await open({ syncFile: noSync, retentionDays: 30 });
    await calls(
      journal,
      Array.from({ length: 1_200 }, (_, index) => [{ sessionId: `s${index}` }, {}]),
    );
    const left = () => Number(store.db.prepare("SELECT count(*) AS left FROM calls").get()?.left);
    store.db.exec("UPDATE calls SET written_at = 1");
    journal.keepUp();
    expect(left()).toBe(1_200);
    const deadline = Date.now() + 10_000;
    while (left() > 1 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(left()).toBe(1);
    expect(journal.stats({ sinceMs: 0, by: "session" }).total.calls).toBe(1_200);
  });

  test("programs of one call each remove more than they add", async () => {
    const first = await open({ syncFile: noSync, retentionDays: 30 });
    await calls(
      first.journal,
      Array.from({ length: 900 }, () => [{}, {}]),
    );
    first.journal.stats({ sinceMs: 0 });
    first.store.db.exec("UPDATE calls SET written_at = 1");
    await first.journal.close();
    for (let program = 0; program < 300; program += 1) {
      const { journal } = await open({ syncFile: noSync, retentionDays: 30 });
      await calls(journal, [[{}, {}]]);
      await journal.close();
    }
    const { store, journal } = await open({ syncFile: noSync });
    const count = (what: string) =>
      Number(store.db.prepare(`SELECT count(*) AS n FROM calls ${what}`).get()?.n);
    expect(count("WHERE written_at = 1")).toBeLessThanOrEqual(400);
    expect(count("WHERE written_at > 1")).toBe(300);
    expect(journal.stats({ sinceMs: 0 }).total.calls).toBe(1_200);
  }, 60_000);

  test("two programs count the same calls once", async () => {
    const one = await open({ syncFile: noSync });
    const other = await open({ syncFile: noSync });
    await calls(
      one.journal,
      Array.from({ length: 50 }, () => [{}, {}]),
    );
    expect(other.journal.stats({ sinceMs: 0 }).total.calls).toBe(50);
    await calls(
      other.journal,
      Array.from({ length: 50 }, () => [{ tool: "other" }, {}]),
    );
    expect(one.journal.stats({ sinceMs: 0 }).total.calls).toBe(100);
    expect(other.journal.stats({ sinceMs: 0 }).tools).toHaveLength(2);
  });
});

test("a chart has about 60 to 120 points, whatever the time it shows", () => {
  for (let range = 120_000; range < 40 * 365 * 86_400_000; range *= 1.037) {
    const points = range / spanFor(range);
    expect(points).toBeLessThan(119.01);
    expect(points).toBeGreaterThan(59);
  }
});
