import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RuntimeEvent } from "../../src/observe/events.js";
import { askingRuntime, until } from "./support.js";

async function waitingCall(options: Parameters<typeof askingRuntime>[0] = {}) {
  const made = await askingRuntime(options);
  const session = await made.runtime.openSession({ approver: made.approvals.queue(), door: "library" });
  const leave = new AbortController();
  const result = session.call({ name: "risky", arguments: { text: "one" } }, { signal: leave.signal });
  const store = await made.approvals.store();
  await until(() => store.list().length === 1, "the question");
  const [record] = store.list();
  if (record === undefined) throw new Error("no question");
  return { ...made, session, store, record, result, leave };
}

describe("a question in the queue", () => {
  it("runs the call when it is approved, once, and says who did it", async () => {
    const { store, record, result, ran, home } = await waitingCall();
    expect(record).toMatchObject({ status: "pending", tool: "risky", shown: { what: "one" } });
    expect(ran).toEqual([]);
    expect(await store.answer({ ...record, answer: "once", by: "cli:ann" })).toMatchObject({
      status: "approved",
    });
    expect(await result).toMatchObject({ ok: true, decision: { answer: "once", by: "cli:ann" } });
    expect(ran).toEqual(["one"]);
    expect(store.find(record.id)?.status).toBe("consumed");
    expect(statSync(join(home, "approvals.key")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "state.db")).mode & 0o777).toBe(0o600);
  });

  it("who answers is told of the answer, also when it is used up before it is on disk", async () => {
    const { store, record, leave, result } = await waitingCall();
    const answered = store.answer({ ...record, answer: "once", by: "http" });
    const used = store.consume(record);
    expect(await answered).toMatchObject({ status: "approved" });
    expect(await used).toMatchObject({ status: "consumed" });
    leave.abort();
    await result;
  });

  it("tells the model why it was denied", async () => {
    const { store, record, result, ran } = await waitingCall();
    await store.answer({ ...record, answer: "deny", by: "http", reason: "not on a Friday" });
    const { error, decision } = await result;
    expect(error).toMatchObject({ code: "denied", message: expect.stringContaining("not on a Friday") });
    expect(decision).toMatchObject({ answer: "deny", by: "http" });
    expect(ran).toEqual([]);
  });

  it("can be answered from another process of the same home", async () => {
    const { record, result, ran, home } = await waitingCall();
    const other = await askingRuntime({ home });
    const theirs = await other.approvals.store();
    expect(theirs.list().map(({ id }) => id)).toEqual([record.id]);
    const [listed] = theirs.list();
    await theirs.answer({ id: record.id, hash: listed?.hash ?? "", answer: "once", by: "cli:bob" });
    expect((await result).ok).toBe(true);
    expect(ran).toEqual(["one"]);
    expect(other.ran).toEqual([]);
  });

  it("is over when nobody answers in time, and nothing was run", async () => {
    const { store, record, result, ran } = await waitingCall({ timeoutSeconds: 0.6 });
    expect((await result).error?.code).toBe("timed_out_waiting");
    await until(() => store.find(record.id)?.status === "expired", "the end of the question");
    expect(await store.answer({ ...record, answer: "once", by: "cli" })).toMatchObject({
      refused: "expired",
      code: "denied",
    });
    expect(ran).toEqual([]);
  });

  it("is over when its call is interrupted; a later yes does nothing", async () => {
    const { store, record, result, ran, leave } = await waitingCall();
    leave.abort();
    expect((await result).error?.code).toBe("cancelled");
    await until(() => store.find(record.id)?.status === "denied", "the end of the question");
    expect(await store.answer({ ...record, answer: "once", by: "cli" })).toMatchObject({
      refused: "already_answered",
    });
    expect(ran).toEqual([]);
  });

  it("settled questions make room, the oldest first; when those that wait fill it, a new one is denied", async () => {
    const made = await askingRuntime({ env: { HERMES_APPROVALS_MAX_MB: "1" } });
    const leave = new AbortController();
    const session = await made.runtime.openSession({ approver: made.approvals.queue(), door: "library" });
    const store = await made.approvals.store();
    const ask = (text: string) =>
      session.call({ name: "risky", arguments: { text } }, { signal: leave.signal });
    const settled: string[] = [];
    for (let at = 0; at < 24; at++) {
      const result = ask(`${at} `.repeat(8_000));
      await until(() => store.list().length === 1, "the question");
      const [record] = store.list();
      if (record === undefined) throw new Error("no question");
      await store.answer({ ...record, answer: "deny", by: "http" });
      await result;
      settled.push(record.id);
    }
    const waiting = ask("x".repeat(500_000));
    await until(() => store.list().length === 1, "the large question");
    expect(store.find(settled[0] ?? "")).toBeUndefined();
    expect(store.find(settled.at(-1) ?? "")).toBeDefined();
    expect((await ask("y".repeat(500_000))).error).toMatchObject({
      code: "denied",
      message: expect.stringContaining("no room for more"),
    });
    expect(store.list()).toHaveLength(1);
    leave.abort();
    expect((await waiting).error?.code).toBe("cancelled");
  });

  it("is over when its runtime closes", async () => {
    const { record, result, ran, approvals, home } = await waitingCall();
    await approvals.close();
    expect((await result).error?.code).toBe("denied");
    const later = await (await askingRuntime({ home })).approvals.store();
    expect(later.find(record.id)?.status).toBe("denied");
    expect(ran).toEqual([]);
  });

  it("is over at whatever moment its runtime closes", async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const made = await askingRuntime();
      const session = await made.runtime.openSession({ approver: made.approvals.queue() });
      await made.approvals.store();
      const result = session.call({ name: "risky", arguments: { text: "one" } });
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await made.approvals.close();
      expect((await result).error?.code).toBe("denied");
      expect(made.ran).toEqual([]);
    }
  });

  it("answered with session asks no more in that session, and only there", async () => {
    const { runtime, session, store, record, result, approvals } = await waitingCall();
    await store.answer({ ...record, answer: "session", by: "cli" });
    expect((await result).ok).toBe(true);
    expect((await session.call({ name: "risky", arguments: { text: "two" } })).ok).toBe(true);
    const other = await runtime.openSession({ approver: approvals.queue() });
    const leave = new AbortController();
    const asked = other.call({ name: "risky", arguments: { text: "three" } }, { signal: leave.signal });
    await until(() => store.list().length === 1, "the question of the other session");
    leave.abort();
    await asked;
  });

  it("once answered does not answer an equal question that waits beside it", async () => {
    const { session, store, record, result, ran } = await waitingCall();
    const leave = new AbortController();
    const twin = session.call({ name: "risky", arguments: { text: "one" } }, { signal: leave.signal });
    await until(() => store.list().length === 2, "the second question");
    expect(new Set(store.list().map(({ hash }) => hash)).size).toBe(1);
    await store.answer({ ...record, answer: "once", by: "cli" });
    expect((await result).ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(ran).toEqual(["one"]);
    leave.abort();
    expect((await twin).ok).toBe(false);
  });

  it("is announced, signed, with secrets masked, and its end too", async () => {
    const made = await askingRuntime({ env: { DEPLOY_TOKEN: "s3cr3t-value-0123456789" } });
    const events: RuntimeEvent[] = [];
    made.runtime.events.on((event) => events.push(event));
    const session = await made.runtime.openSession({ approver: made.approvals.queue() });
    const text = "deploy --token s3cr3t-value-0123456789";
    const result = session.call({ name: "risky", arguments: { text } });
    await until(() => events.some(({ type }) => type === "approval.pending"), "the event");
    const store = await made.approvals.store();
    const [record] = store.list();
    const pending = events.find((event) => event.type === "approval.pending");
    expect(pending).toMatchObject({ id: record?.id, hash: record?.hash, signature: record?.signature });
    expect(JSON.stringify([pending, record?.shown])).not.toContain("s3cr3t-value");
    await store.answer({ id: record?.id ?? "", hash: record?.hash ?? "", answer: "once", by: "cli" });
    expect((await result).ok).toBe(true);
    // What runs is what was asked about, not the masked copy that was shown.
    expect(made.ran).toEqual([text]);
    expect(events.find((event) => event.type === "approval.settled")).toMatchObject({
      id: record?.id,
      status: "consumed",
      by: "cli",
    });
    // Not in the log of the database or in its free pages either.
    for (const name of readdirSync(made.home).filter((each) => each.startsWith("state.db"))) {
      expect(readFileSync(join(made.home, name), "latin1"), name).not.toContain("s3cr3t-value");
    }
    const { openDatabase } = await import("../../src/store/sqlite-driver.js");
    const db = openDatabase(made.runtime.config.paths.stateDb);
    const kept = JSON.stringify(db.prepare("SELECT * FROM approvals").all());
    db.close();
    expect(kept).not.toContain("s3cr3t-value");
  });

  it("shows the end of a text that is too long to show whole", async () => {
    const made = await askingRuntime();
    const session = await made.runtime.openSession({ approver: made.approvals.queue() });
    const leave = new AbortController();
    const text = `echo ${"x".repeat(100_000)}; rm -rf important`;
    const result = session.call({ name: "risky", arguments: { text } }, { signal: leave.signal });
    const store = await made.approvals.store();
    await until(() => store.list().length === 1, "the question");
    const shown = store.list()[0]?.shown;
    expect(shown?.what).toMatch(/^echo x.*characters not shown.*rm -rf important$/);
    expect(JSON.stringify(shown).length).toBeLessThan(70_000);
    leave.abort();
    await result;
  });

  it("that cannot be written down is a denial", async () => {
    const made = await askingRuntime();
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(made.home, "approvals.key"));
    const session = await made.runtime.openSession({ approver: made.approvals.queue() });
    const { error } = await session.call({ name: "risky", arguments: { text: "x" } });
    expect(error?.code).toBe("denied");
    expect(made.ran).toEqual([]);
  });
});
