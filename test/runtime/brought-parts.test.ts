import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type CallIntent,
  type CallOutcome,
  createLogger,
  defineTool,
  InProcessLocks,
  type Journal,
  type LockRequest,
  noStats,
} from "../../src/index.js";
import { openApprovals } from "../../src/policy/approvals/open.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const write = defineTool({
  name: "write",
  description: "Writes",
  parameters: { type: "object", properties: { path: { type: "string" } } },
  permissions: ["file:write"],
  effects: ({ path = "" }) => [{ action: "file:write", resource: path, mode: "write" }],
  handler: () => "written",
});

/** Remembers as long as the program lives. */
class MemoryJournal implements Journal {
  readonly enabled = true;
  readonly rows: { readonly intent: CallIntent; outcome?: CallOutcome }[] = [];
  closed = false;

  begin(intent: CallIntent) {
    const row: (typeof this.rows)[number] = { intent };
    this.rows.push(row);
    const end = async (outcome: CallOutcome) => {
      row.outcome = outcome;
    };
    return { end, endSoon: (outcome: () => CallOutcome) => void end(outcome()) };
  }
  recent = async () => [];
  call = async () => undefined;
  result = async () => undefined;
  stats = async () => noStats();
  keepUp = () => undefined;
  metrics = () => ({ tools: [], answers: {} });
  recover = async () => [];
  prune = async () => 0;
  async close() {
    this.closed = true;
  }
}

it("calls are written down in the journal that was brought, which is closed with the runtime", async () => {
  const journal = new MemoryJournal();
  const { runtime, home, cwd } = await testRuntime([write], { journal });
  const session = await runtime.openSession({ door: "cli" });
  await session.call({ id: "c1", name: "write", arguments: { path: join(cwd, "a") } });
  expect(journal.rows).toMatchObject([
    { intent: { callId: "c1", tool: "write", door: "cli", durableBefore: true }, outcome: { status: "ok" } },
  ]);
  await runtime.close();
  expect(journal.closed).toBe(true);
  expect(() => readFileSync(join(home, "state.db"))).toThrow();
});

it("calls wait for each other by the locks that were brought, also those of another runtime", async () => {
  const locks = new InProcessLocks();
  const asked: LockRequest[] = [];
  const shared = {
    acquire(request: LockRequest) {
      asked.push(request);
      return locks.acquire(request);
    },
  };
  let running = 0;
  let most = 0;
  const slow = {
    ...write,
    handler: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return "written";
    },
  };
  const cwd = tempDir();
  const sessions = await Promise.all(
    [1, 2].map(async () => (await testRuntime([slow], { cwd, locks: shared })).runtime.openSession()),
  );
  const calls = sessions.map((session) =>
    session.call({ name: "write", arguments: { path: join(cwd, "same") } }),
  );
  expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, true]);
  expect(asked.length).toBeGreaterThanOrEqual(2);
  expect(most).toBe(1);
});

it("questions wait where they were told to", async () => {
  const elsewhere = tempDir();
  const open = () =>
    openApprovals({
      home: elsewhere,
      stateDb: join(elsewhere, "questions.db"),
      log: createLogger({ sink: () => undefined }),
    });
  const { runtime, home } = await testRuntime([write], {
    approvals: open,
    policy: { decide: () => ({ verdict: "ask", rule: "always-ask" }) },
    flags: { "approvals.unattended_mode": "queue" },
  });
  const { approvals } = runtime;
  const there = await open();
  onTestEnd(() => there.close());
  const approver = approvals.unattended("unattended_mode", {
    onPending: ({ id, hash }) => void there.answer({ id, hash, answer: "once", by: "somebody" }),
  });
  const session = await runtime.openSession({ approver });
  const result = await session.call({ name: "write", arguments: { path: "a" } });
  expect(result).toMatchObject({ ok: true, decision: { answer: "once", by: "somebody" } });
  expect(there.list({ all: true })).toMatchObject([{ status: "consumed" }]);
  expect(() => readFileSync(join(home, "state.db"))).toThrow();
});
