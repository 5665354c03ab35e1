import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newOwnerId } from "../../src/store/process-owner.js";
import type { Store } from "../../src/store/store.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { statusesIn, temporaryJournals } from "../fixtures/journal/temporary-journals.js";

const open = temporaryJournals();

describe("after a crash", () => {
  function abandon(store: Store, callId: string, owner: string): void {
    const detail = JSON.stringify({ call_id: callId, tool: "echo" });
    store.db
      .prepare("INSERT INTO calls (owner, written_at, running, detail) VALUES (?, 1, 1, ?)")
      .run(owner, detail);
  }

  test("only calls of dead processes become unknown, once", async () => {
    const { journal, store } = await open();
    const mine = newOwnerId();
    const [boot, pid, start, random] = mine.split(".");
    abandon(store, "other journal of this process", mine);
    abandon(store, "pid reused", [boot, pid, `${Number(start) - 1}`, random].join("."));
    abandon(store, "pid gone", [boot, 2 ** 22 + 1, start, random].join("."));
    abandon(store, "before the last boot", ["00000000", pid, start, random].join("."));
    abandon(store, "unreadable owner", "?");
    await (await journal.begin(intentOf("finished"))).end(outcomeOf());

    const recovered = journal.recover();
    expect(recovered.map((row) => [row.call_id, row.status])).toEqual([
      ["pid reused", "unknown"],
      ["pid gone", "unknown"],
      ["before the last boot", "unknown"],
      ["unreadable owner", "unknown"],
    ]);
    expect(journal.recover()).toEqual([]);
    expect(statusesIn(journal)).toMatchObject({ "other journal of this process": "running", finished: "ok" });
  });
});

describe("when the disk refuses", () => {
  const big = (id: string) => intentOf(id, { argsJson: "x".repeat(60_000) });

  test("a full disk fails the call with the reason; with space again nothing is missing", async () => {
    const { journal, store } = await open();
    await (await journal.begin(intentOf("before"))).end(outcomeOf());
    const pages = Number(store.db.prepare("PRAGMA page_count").get()?.page_count);
    store.db.exec(`PRAGMA max_page_count = ${pages}`);

    const refused = await journal.begin(big("read"));
    await expect(refused.end(outcomeOf())).rejects.toThrow(
      /journal cannot be written.*full.*free some space/,
    );
    await expect(
      journal.begin(intentOf("write", { durableBefore: true, argsJson: big("").argsJson })),
    ).rejects.toThrow("full");
    void (await journal.begin(big("nobody waits"))).end(outcomeOf());
    await sleep(50);

    store.db.exec("PRAGMA max_page_count = 1000000");
    await (await journal.begin(intentOf("after"))).end(outcomeOf());
    expect(statusesIn(journal)).toEqual({ before: "ok", read: "ok", "nobody waits": "ok", after: "ok" });
  });

  test("a call whose values have no JSON text fails alone", async () => {
    const { journal } = await open();
    const good = await journal.begin(intentOf("good"));
    const bad = await journal.begin(intentOf("bad"));
    const ended = good.end(outcomeOf());
    expect(() => bad.end(outcomeOf({ durationMs: 1n as unknown as number }))).toThrow("BigInt");
    await ended;
    await bad.end(outcomeOf({ status: "error" }));
    expect(statusesIn(journal)).toEqual({ good: "ok", bad: "error" });
  });

  test("while the disk refuses, calls that need not wait for it do, and are told", async () => {
    const { journal, store } = await open();
    const call = async (id: string) => (await journal.begin(intentOf(id))).end(outcomeOf());
    await call("before");
    rmSync(store.path);
    await call("not known yet");
    await expect.poll(() => call("later").then(String, String)).toMatch(/deleted or replaced.*Restart/);
    await expect(journal.begin(intentOf("write", { durableBefore: true }))).rejects.toThrow(
      "deleted or replaced",
    );
  });

  test("for every n, a sync that fails the n-th time loses no acknowledged call and hangs none", async () => {
    for (let failing = 1; failing <= 6; failing++) {
      let syncs = 0;
      const { journal, store } = await open({
        file: `fault-${failing}.db`,
        syncFile: async () => {
          if (++syncs === failing) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
        },
      });
      const told: Record<string, string> = {};
      for (let call = 0; call < 6; call++) {
        const id = `call_${call}`;
        try {
          const entry = await journal.begin(intentOf(id, { durableBefore: call % 2 === 0 }));
          await entry.end(outcomeOf());
          told[id] = "ok";
        } catch (error) {
          expect(String(error)).toMatch(/journal cannot be written: EIO.*check it/);
          told[id] = "refused";
        }
      }
      // Three intents wait for the disk; what comes after them is committed and follows.
      const refused = Object.values(told).filter((answer) => answer === "refused");
      expect(refused).toHaveLength(failing <= 3 ? 1 : 0);
      await journal.close();
      const rows = store.db.prepare("SELECT call_id, status FROM call_rows").all();
      const ok = rows.filter((row) => row.status === "ok").map((row) => row.call_id);
      for (const [id, answer] of Object.entries(told)) if (answer === "ok") expect(ok).toContain(id);
      expect(rows.filter((row) => row.status === "running")).toEqual([]);
    }
  });
});
