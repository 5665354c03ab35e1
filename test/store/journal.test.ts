import { copyFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nullJournal } from "../../src/call/journal.js";
import { openStore } from "../../src/store/store.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { noSync, statusesIn, temporaryJournals } from "../fixtures/journal/temporary-journals.js";

const open = temporaryJournals();

describe("what is written is what is read", () => {
  test("a row holds all that is known of its call", async () => {
    const { journal } = await open();
    const intent = intentOf("call_1", { tool: "read_file", calledAs: "file_read", rule: "profile:x" });
    const entry = await journal.begin(intent);
    await entry.end(
      outcomeOf({ status: "error", errorCode: "failed", errorMessage: "no such file", repairs: "[]" }),
    );
    const [row] = journal.recent({ limit: 1 });
    expect(row).toEqual({
      seq: entry.seq,
      call_id: "call_1",
      session_id: "session",
      tool: "read_file",
      called_as: "file_read",
      door: "library",
      args: '{"text":"hello"}',
      effects: "[]",
      decision: "allow",
      rule: "profile:x",
      environment: "local",
      started_at: intent.startedAt,
      status: "error",
      state: "done",
      duration_ms: 1.5,
      result_chars: 5,
      result_tokens: 2,
      result_hash: "5d41402a",
      truncated: false,
      error_code: "failed",
      error_message: "no such file",
      repairs: "[]",
      owner: expect.stringContaining(`.${process.pid}.`),
    });
  });

  test("any text comes back unchanged: NUL, lone surrogates, quotes, framing", async () => {
    const { journal } = await open({ syncFile: noSync });
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }),
      fc
        .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
        .map((units) => String.fromCharCode(...units)),
      fc.constantFrom(',"crc":1', '","crc":1,"', ',"outcome":{', "\u0000", "\ud800", "{}]"),
    );
    await fc.assert(
      fc.asyncProperty(anyText, anyText, fc.boolean(), async (callId, text, durableBefore) => {
        const entry = await journal.begin(intentOf(callId, { argsJson: text, durableBefore }));
        await entry.end(outcomeOf({ status: "error", errorMessage: text }));
        const [row] = journal.recent({ limit: 1 });
        expect(row).toMatchObject({ call_id: callId, args: text, error_message: text, status: "error" });
        expect(row?.damaged).toBeUndefined();
      }),
      { numRuns: 200 },
    );
    expect(journal.stats({ sinceMs: 0 }).tools[0]?.calls).toBe(200);
  });

  test("long arguments are cut at 64 KiB between characters, and say how long they were", async () => {
    const { journal } = await open();
    const argsJson = "é".repeat(50_000);
    await (await journal.begin(intentOf("long", { argsJson }))).end(outcomeOf());
    const [row] = journal.recent({ limit: 1 });
    expect(row?.args).toBe("é".repeat(32 * 1024));
    expect(row?.args_bytes).toBe(100_000);
  });

  test("a stored row that was changed behind our back is marked, and does not stop the others", async () => {
    const { journal, store } = await open();
    for (const id of ["changed", "broken", "sound"])
      await (await journal.begin(intentOf(id))).end(outcomeOf());
    const change = (id: string, to: string) =>
      store.db.prepare(`UPDATE calls SET detail = ${to} WHERE detail LIKE ?`).run(`%"call_id":"${id}"%`);
    change("changed", "replace(detail, 'hello', 'hullo')");
    change("broken", "CAST(x'7bff00' AS TEXT)");
    const rows = journal.recent({ limit: 3 });
    expect(rows.map((row) => [row.call_id, row.damaged])).toEqual([
      ["sound", undefined],
      ["", true],
      ["changed", true],
    ]);
    expect(journal.recent({ limit: 3, tool: "echo" })).toHaveLength(2);
    expect(journal.stats({ sinceMs: 0 }).tools[0]?.calls).toBe(2);
  });
});

describe("when it is written", () => {
  test("calls that end together share one write and one sync", async () => {
    let syncs = 0;
    const { journal } = await open({
      syncFile: async () => {
        syncs++;
        await sleep(5);
      },
    });
    const call = async (id: string) => (await journal.begin(intentOf(id))).end(outcomeOf());
    await Promise.all(Array.from({ length: 200 }, (_, index) => call(`call_${index}`)));
    expect(syncs).toBeLessThanOrEqual(2);
    expect(journal.recent({ limit: 1000 })).toHaveLength(200);
  });

  test("a call that changes something starts only after its intent is on the disk", async () => {
    let finishSync: (() => void) | undefined;
    const { journal } = await open({
      syncFile: () =>
        new Promise((resolve) => {
          finishSync = resolve;
        }),
    });
    let started = false;
    const begun = Promise.resolve(journal.begin(intentOf("write", { durableBefore: true }))).then(() => {
      started = true;
    });
    await expect.poll(() => finishSync).toBeDefined();
    await sleep(20);
    expect(started).toBe(false);
    expect(statusesIn(journal)).toEqual({ write: "running" });
    finishSync?.();
    await begun;
    expect(started).toBe(true);
  });

  test("an outcome is answered when it is committed; the disk follows without being waited for", async () => {
    let isSlow = true;
    const waiting: (() => void)[] = [];
    const finishAll = () => {
      isSlow = false;
      for (const finish of waiting.splice(0)) finish();
    };
    const { journal, store } = await open({
      syncFile: async () => {
        if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
      },
    });
    await (await journal.begin(intentOf("read"))).end(outcomeOf());
    finishAll();
    const begun = await journal.begin(intentOf("write", { durableBefore: true }));
    isSlow = true;
    await begun.end(outcomeOf());
    const reader = await openStore({ path: store.path });
    const rows = reader.db.prepare("SELECT call_id, status FROM call_rows ORDER BY seq").all();
    await reader.close();
    expect(rows.map((row) => [row.call_id, row.status])).toEqual([
      ["read", "ok"],
      ["write", "ok"],
    ]);
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    finishAll();
  });

  test("after a power cut a call that had begun to change something is there, as unknown if its outcome was on its way", async () => {
    const { journal, store } = await open({
      // What is sure to be on the disk is what was in the files when the last sync began.
      syncFile: async () => {
        for (const end of ["", "-wal"]) copyFileSync(`${store.path}${end}`, `${store.path}.on-disk${end}`);
      },
    });
    await (await journal.begin(intentOf("synced", { durableBefore: true }))).end(outcomeOf());
    const write = await journal.begin(intentOf("not synced", { durableBefore: true }));
    await (await journal.begin(intentOf("only read"))).end(outcomeOf());
    await write.end(outcomeOf());
    expect(statusesIn(journal)).toEqual({ synced: "ok", "not synced": "ok", "only read": "ok" });

    const after = await open({ file: "state.db.on-disk", syncFile: noSync });
    after.store.db.exec("UPDATE calls SET owner = 'beforethe.1.1.power cut'");
    expect(after.journal.recover().map((row) => [row.call_id, row.status])).toEqual([
      ["not synced", "unknown"],
    ]);
    expect(statusesIn(after.journal)).toEqual({ synced: "ok", "not synced": "unknown" });
  });

  test("a call that only reads begins at once; if it runs long, its intent is written meanwhile", async () => {
    const { journal } = await open();
    const entry = journal.begin(intentOf("slow"));
    expect(entry).not.toBeInstanceOf(Promise);
    expect(statusesIn(journal)).toEqual({});
    await expect.poll(() => statusesIn(journal)).toEqual({ slow: "running" });
    await (await entry).end(outcomeOf());
    expect(statusesIn(journal)).toEqual({ slow: "ok" });
  });

  test("one call is one row, however begin, delay and end fall", async () => {
    const { journal } = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ durableBefore: fc.boolean(), delay: fc.constantFrom(0, 0, 1, 24, 26, 40) }), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.uuid(),
        async (calls, sessionId) => {
          await Promise.all(
            calls.map(async ({ durableBefore, delay }, index) => {
              const entry = await journal.begin(intentOf(`${index}`, { sessionId, durableBefore }));
              if (delay > 0) await sleep(delay);
              await entry.end(outcomeOf({ resultHash: `${index}` }));
              expect(entry.seq).toBeGreaterThan(0);
            }),
          );
          const rows = journal.recent({ limit: 100, sessionId });
          expect(rows.map((row) => row.call_id).sort()).toEqual(calls.map((_, index) => `${index}`).sort());
          expect(rows.every((row) => row.status === "ok" && row.result_hash === row.call_id)).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("closing writes what is still waiting; a call that never ended stays visible", async () => {
    const { journal, store } = await open();
    void journal.begin(intentOf("never ended"));
    void (await journal.begin(intentOf("not waited for"))).end(outcomeOf());
    await journal.close();
    const rows = store.db.prepare("SELECT status FROM call_rows ORDER BY status").all();
    expect(rows.map((row) => row.status)).toEqual(["ok", "running"]);
    await expect(journal.begin(intentOf("late"))).rejects.toThrow("already closed");
  });

  test("ending twice keeps the first outcome", async () => {
    const { journal } = await open();
    const entry = await journal.begin(intentOf("twice"));
    await Promise.all([entry.end(outcomeOf()), entry.end(outcomeOf({ status: "error" }))]);
    expect(statusesIn(journal)).toEqual({ twice: "ok" });
  });
});

test("a journal that is switched off answers at once and keeps nothing", async () => {
  const journal = nullJournal();
  const entry = journal.begin(intentOf("x", { durableBefore: true }));
  if (entry instanceof Promise) throw new Error("begin must not wait");
  expect(entry.end(outcomeOf())).toBe(entry.end(outcomeOf()));
  await entry.end(outcomeOf());
  expect(journal.recent({ limit: 1 })).toEqual([]);
  expect(journal.enabled).toBe(false);
});
