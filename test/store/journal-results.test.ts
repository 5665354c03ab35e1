import { expect, test } from "vitest";
import { sha256 } from "../../src/base/hash.js";
import { openJournal, type SqliteJournal } from "../../src/call/sqlite-journal.js";
import { intentOf, outcomeOf } from "../fixtures/journal/calls.js";
import { noSync, temporaryJournals } from "../fixtures/journal/temporary-journals.js";

const open = temporaryJournals();

async function answer(journal: SqliteJournal, text: string): Promise<string> {
  const resultHash = sha256(text);
  const entry = await journal.begin(intentOf("c"));
  await entry.end(outcomeOf({ result: text, resultHash, resultChars: text.length }));
  return resultHash;
}

test("what a call was answered with is there by the hash in its row, whatever characters it has", async () => {
  const { journal } = await open();
  const text = 'a "quoted" line\n\u0000 and 漢字 and 🙂'.repeat(20);
  const hash = await answer(journal, text);
  expect(journal.recent({ limit: 1 })[0]?.result_hash).toBe(hash);
  expect(journal.result(hash)).toBe(text);
  expect(journal.result(hash, journal.recent({ limit: 1 })[0]?.seq)).toBe(text);
  expect(journal.result("nobody")).toBeUndefined();
});

test("a short one stands in the row of its call, and takes no row of its own", async () => {
  const { journal, store } = await open();
  const text = 'a "quoted" line\n\u0000 and 漢字 and 🙂';
  const hash = await answer(journal, text);
  const [row] = journal.recent({ limit: 1 });
  expect(journal.result(hash, row?.seq)).toBe(text);
  expect(row).not.toHaveProperty("result");
  expect(store.db.prepare("SELECT count(*) AS rows FROM call_results").get()).toEqual({ rows: 0 });
});

test("the same answer is kept once", async () => {
  const { journal, store } = await open();
  for (let count = 0; count < 5; count += 1) await answer(journal, "again ".repeat(100));
  expect(store.db.prepare("SELECT count(*) AS rows FROM call_results").get()).toEqual({ rows: 1 });
});

test("of a long answer the first 64 KiB are kept, in whole characters", async () => {
  const { journal } = await open();
  const hash = await answer(journal, `a${"ö".repeat(50_000)}`);
  const kept = journal.result(hash) ?? "";
  expect(Buffer.byteLength(kept)).toBe(64 * 1024 - 1);
  expect(kept).toMatch(/^aö+$/);
});

test("more than its room is not kept: the oldest answers leave first", async () => {
  const { journal, store } = await open({ syncFile: noSync });
  await journal.close();
  const small = openJournal(store, { resultsMb: 1 });
  const hashes: string[] = [];
  for (let count = 0; count < 100; count += 1)
    hashes.push(await answer(small, `${count} ${"x".repeat(40_000)}`));
  await small.prune(1);
  const { bytes } = store.db.prepare("SELECT total(bytes) AS bytes FROM call_results").get() ?? {};
  expect(Number(bytes)).toBeLessThanOrEqual(1_048_576);
  expect(Number(bytes)).toBeGreaterThan(700_000);
  expect(small.result(hashes[0] ?? "")).toBeUndefined();
  expect(small.result(hashes[99] ?? "")).toContain("99 xxx");
  await small.close();
});

test("nothing is kept where that is switched off", async () => {
  const { store } = await open({ syncFile: noSync });
  const journal = openJournal(store, { resultsMb: false });
  const hash = await answer(journal, "not kept");
  expect(journal.result(hash, journal.recent({ limit: 1 })[0]?.seq)).toBeUndefined();
  expect(store.db.prepare("SELECT count(*) AS rows FROM call_results").get()).toEqual({ rows: 0 });
  await journal.close();
});
