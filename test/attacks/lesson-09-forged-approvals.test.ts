import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalRecord } from "../../src/policy/approvals/record.js";
import { resumeApproval } from "../../src/policy/approvals/resume.js";
import type { ApprovalStore } from "../../src/policy/approvals/store.js";
import type { Database, SqlValue } from "../../src/store/driver.js";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { askingRuntime, until } from "../approvals/support.js";
import { onTestEnd } from "../support/runtime.js";

async function waiting() {
  const made = await askingRuntime({ timeoutSeconds: 5 });
  const session = await made.runtime.openSession({ approver: made.approvals.queue({ audience: ["cli"] }) });
  const result = session.call({ name: "risky", arguments: { text: "rm everything" } });
  const store = await made.approvals.store();
  await until(() => store.list().length === 1, "the question");
  const [record] = store.list();
  if (record === undefined) throw new Error("no question");
  const db = openDatabase(made.runtime.config.paths.stateDb);
  onTestEnd(() => db.close());
  return { ...made, store, record, result, db };
}

const set = (db: Database, id: string, fields: Readonly<Record<string, SqlValue>>) => {
  const names = Object.keys(fields);
  const { changes } = db
    .prepare(`UPDATE approvals SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE id = ?`)
    .run(...Object.values(fields), id);
  expect(changes).toBe(1);
};

const yes = (record: ApprovalRecord, more: Partial<Parameters<ApprovalStore["answer"]>[0]> = {}) => ({
  id: record.id,
  hash: record.hash,
  answer: "once" as const,
  by: "cli:ann",
  ...more,
});

describe("lesson 9: an approval is a record of the runtime, not what somebody says it is", () => {
  it("an approval written into the database by somebody without the key is nobody's", async () => {
    const { db, record, result, ran, logged } = await waiting();
    const answer = JSON.stringify({ answer: "always", by: "cli:ann", at: Date.now() });
    set(db, record.id, { status: "approved", answer, answer_signature: record.signature });
    expect((await result).ok).toBe(false);
    expect(ran).toEqual([]);
    expect(logged.join("\n")).toContain("its signature does not fit");
  });

  it("an answer lifted from another question does not fit this one", async () => {
    const { db, record, result, ran, runtime, approvals, store } = await waiting();
    const session = await runtime.openSession({ approver: approvals.queue() });
    const harmless = session.call({ name: "risky", arguments: { text: "harmless" } });
    await until(() => store.list().length === 2, "the second question");
    const other = store.list().find(({ id }) => id !== record.id);
    if (other === undefined) throw new Error("no second question");
    await store.answer(yes(other));
    expect((await harmless).ok).toBe(true);
    const lifted = db.prepare("SELECT answer, answer_signature FROM approvals WHERE id = ?").get(other.id);
    set(db, record.id, { status: "approved", ...lifted });
    expect((await result).ok).toBe(false);
    expect(ran).toEqual(["harmless"]);
  });

  it("a question that was changed is ignored and reported", async () => {
    const changes: readonly (readonly [string, Readonly<Record<string, SqlValue>>])[] = [
      ["more time", { expires_at: Date.now() + 3_600_000 }],
      ["another audience", { audience: '["mallory"]' }],
      ["no audience", { audience: null }],
      ["another asker", { owner: "1:0:gone" }],
      ["another tool", { tool: "echo" }],
      ["another hash", { hash: "0".repeat(64) }],
      ["a harmless look", { shown: '{"tool":"risky","what":"ls","args":{}}' }],
      ["other arguments to run", { call: '{"tool":"risky","args":{"text":"worse"}}' }],
      ["bytes that are no text", { shown: new Uint8Array([0xff, 0xfe, 0]) }],
    ];
    const tried = changes.map(async ([what, fields]) => {
      const { db, record, store, result, ran, logged } = await waiting();
      set(db, record.id, fields);
      expect(store.list(), what).toEqual([]);
      expect(await store.answer(yes(record)), what).toMatchObject({ refused: "unknown_id" });
      expect((await result).ok, what).toBe(false);
      expect(ran, what).toEqual([]);
      expect(
        logged.filter((line) => line.includes(record.id)),
        what,
      ).toHaveLength(1);
    });
    await Promise.all(tried);
  });

  it("an approval that was used, or withdrawn, cannot be set back", async () => {
    const { db, record, result, ran, store, runtime } = await waiting();
    const before = db.prepare("SELECT call FROM approvals WHERE id = ?").get(record.id);
    await store.answer(yes(record));
    expect((await result).ok).toBe(true);
    const openSession = runtime.openSession.bind(runtime);
    const replay = async (more: Readonly<Record<string, SqlValue>>) => {
      set(db, record.id, { status: "approved", ...before, ...more });
      expect(store.find(record.id)).toBeUndefined();
      expect(await store.consume(record)).toMatchObject({ refused: "unknown_id" });
      return resumeApproval({ store, id: record.id, openSession });
    };
    expect(await replay({})).toMatchObject({ refused: "unknown_id" });
    expect(await replay({ owner: "1:0:gone" })).toMatchObject({ refused: "unknown_id" });
    expect(ran).toEqual(["rm everything"]);

    const second = await waiting();
    // From elsewhere, so that the call does not use the answer at once.
    const elsewhere = await (await askingRuntime({ home: second.home })).approvals.store();
    await elsewhere.answer(yes(second.record));
    await elsewhere.withdraw(second.record.id);
    set(second.db, second.record.id, { status: "approved" });
    expect(elsewhere.find(second.record.id)).toBeUndefined();
    await second.result;
  });

  it("a question made up in the database is not even listed", async () => {
    const { db, record, store } = await waiting();
    db.exec(`INSERT INTO approvals SELECT 'apr_made_up', hash, tool, created_at, expires_at, owner, status, audience,
      shown, call, call_digest, signature, answer, answer_signature FROM approvals`);
    expect(store.list().map(({ id }) => id)).toEqual([record.id]);
    expect(await store.answer(yes(record, { id: "apr_made_up" }))).toMatchObject({ refused: "unknown_id" });
  });

  it("every wrong answer says what is wrong with it and changes nothing", async () => {
    const { record, store, result, ran } = await waiting();
    const wrong = [
      [{ id: "apr_0" }, "unknown_id"],
      [{ hash: "0".repeat(64) }, "wrong_hash"],
      [{ by: "telegram:7" }, "wrong_person"],
      [{ by: "cliff" }, "wrong_person"],
      [{ signature: "x".repeat(43) }, "wrong_signature"],
      [{ signature: "" }, "wrong_signature"],
    ] as const;
    for (const [more, refused] of wrong)
      expect(await store.answer(yes(record, more))).toMatchObject({ refused });
    expect(store.find(record.id)).toMatchObject({ status: "pending" });
    expect(await store.consume(record)).toMatchObject({ refused: "not_approved" });
    expect(await store.answer(yes(record, { signature: record.signature }))).toMatchObject({ id: record.id });
    expect((await result).ok).toBe(true);
    expect(await store.answer(yes(record))).toMatchObject({ refused: "already_answered" });
    expect(await store.consume(record)).toMatchObject({ refused: "already_answered" });
    expect(ran).toEqual(["rm everything"]);
  });

  it("with another key nothing of before counts", async () => {
    const { home, record } = await waiting();
    rmSync(join(home, "approvals.key"));
    const later = await askingRuntime({ home });
    const store = await later.approvals.store();
    expect(store.list()).toEqual([]);
    expect(await store.answer(yes(record))).toMatchObject({ refused: "unknown_id" });
  });
});
