import { describe, expect, test } from "vitest";
import type { SqliteJournal } from "../../src/call/sqlite-journal.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { statusesIn, temporaryJournals } from "../fixtures/journal/temporary-journals.js";

const open = temporaryJournals();

describe("reading", () => {
  test("recent filters by tool, session and time, newest first", async () => {
    const { journal } = await open();
    const now = Date.now();
    const calls = [
      intentOf("a", { tool: "one", startedAt: now - 5000 }),
      intentOf("b", { tool: "two", sessionId: "other" }),
      intentOf("c", { tool: "one" }),
    ];
    for (const intent of calls) await (await journal.begin(intent)).end(outcomeOf());
    const ids = (query: Partial<Parameters<SqliteJournal["recent"]>[0]>) =>
      journal.recent({ limit: 10, ...query }).map((row) => row.call_id);
    expect(ids({})).toEqual(["c", "b", "a"]);
    expect(ids({ limit: 2 })).toEqual(["c", "b"]);
    expect(ids({ tool: "one" })).toEqual(["c", "a"]);
    expect(ids({ sessionId: "other" })).toEqual(["b"]);
    expect(ids({ sinceMs: now - 1000 })).toEqual(["c", "b"]);
  });

  test("statistics count per tool, with percentiles by nearest rank over the calls that ran", async () => {
    const { journal } = await open();
    const end = async (tool: string, outcome: Parameters<typeof outcomeOf>[0]) =>
      (await journal.begin(intentOf(tool, { tool }))).end(outcomeOf(outcome));
    await Promise.all(Array.from({ length: 98 }, (_, index) => end("busy", { durationMs: index + 1 })));
    await end("busy", { durationMs: 99, status: "error", errorMessage: "first" });
    await end("busy", { durationMs: 100, status: "timeout", errorMessage: "second" });
    await end("busy", { durationMs: 0, status: "denied", errorMessage: "not counted" });
    await end("refused", { durationMs: 0, status: "denied" });
    const { tools, total } = journal.stats({ sinceMs: 0 });
    expect(tools).toMatchObject([
      {
        tool: "busy",
        calls: 101,
        errors: 2,
        error_rate: 2 / 101,
        by_status: { ok: 98, error: 1, denied: 1, timeout: 1, cancelled: 0, unknown: 0 },
        p50_ms: 50,
        p95_ms: 95,
        p99_ms: 99,
        last_error: "second",
        result_chars: 505,
      },
      { tool: "refused", calls: 1, errors: 0, error_rate: 0, result_chars: 5 },
    ]);
    expect(tools[1]?.p50_ms).toBeUndefined();
    expect(total).toMatchObject({ calls: 102, errors: 2, p50_ms: 50, bytes: 510 });
    expect(journal.stats({ sinceMs: Date.now() + 60_000 }).tools).toEqual([]);
  });

  test("pruning removes old finished calls only, and numbers are never given out again", async () => {
    const { journal, store } = await open();
    const first = await journal.begin(intentOf("old"));
    await first.end(outcomeOf());
    await journal.begin(intentOf("old but running", { durableBefore: true }));
    const last = await journal.begin(intentOf("newest"));
    await last.end(outcomeOf());
    store.db.exec("UPDATE calls SET written_at = 1");
    expect(journal.prune(30)).toBe(1);
    expect(Object.keys(statusesIn(journal)).sort()).toEqual(["newest", "old but running"]);
  });
});

test("recent filters by status, door, environment and text, and goes on before a number", async () => {
  const { journal } = await open();
  const calls = [
    intentOf("a", { door: "cli", argsJson: '{"path":"/srv/Report.txt"}' }),
    intentOf("b", { environment: "docker", tool: "read_report" }),
    intentOf("c", {}),
  ];
  for (const intent of calls) {
    const status = intent.callId === "c" ? "denied" : "ok";
    await (await journal.begin(intent)).end(outcomeOf({ status }));
  }
  await journal.begin(intentOf("d", { durableBefore: true }));
  const ids = (query: Partial<Parameters<SqliteJournal["recent"]>[0]>) =>
    journal.recent({ limit: 10, ...query }).map((row) => row.call_id);
  expect(ids({ status: "denied" })).toEqual(["c"]);
  expect(ids({ status: "running" })).toEqual(["d"]);
  expect(ids({ door: "cli" })).toEqual(["a"]);
  expect(ids({ environment: "docker" })).toEqual(["b"]);
  expect(ids({ text: "REPORT" })).toEqual(["b", "a"]);
  expect(ids({ before: 3 })).toEqual(["b", "a"]);
  expect(ids({ before: 3, limit: 1 })).toEqual(["b"]);
});
