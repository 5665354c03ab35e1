import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JournalRow } from "../../src/call/journal.js";
import { openJournal } from "../../src/call/sqlite-journal.js";
import { openStore } from "../../src/store/store.js";
import { bundleWriter, startWriter, type Writer } from "../fixtures/journal/writer-process.js";

const KILLS = 100;
const PARALLEL = 2;

let folder: string;
let writer: Awaited<ReturnType<typeof bundleWriter>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-journal-"));
  writer = await bundleWriter();
});

afterAll(async () => {
  await writer.remove();
  await rm(folder, { recursive: true, force: true });
});

function start(options: { home: string; session: string; callsPerLane: number }): Writer {
  return startWriter({
    script: writer.script,
    database: join(folder, options.home, "state.db"),
    session: options.session,
    callsPerLane: options.callsPerLane,
    tellFile: join(folder, `${options.session}.told`),
  });
}

async function readBack(home: string, session: string) {
  const store = await openStore({ path: join(folder, home, "state.db") });
  const journal = openJournal(store);
  const recovered = journal.recover();
  const rows = journal.recent({ limit: 100_000, sessionId: session });
  await journal.close();
  await store.close();
  return { rows, recovered, notices: store.notices };
}

const idsOf = (rows: readonly JournalRow[]) => rows.map((row) => row.call_id);

describe("several processes on one database", () => {
  test("two that open a fresh one at once and write 1,000 calls each lose none", {
    timeout: 60_000,
  }, async () => {
    const sessions = ["first", "second"];
    const writers = sessions.map((session) => start({ home: "shared", session, callsPerLane: 125 }));
    for (const { ready } of writers) expect(await ready).toEqual([]);
    for (const { exited } of writers) expect(await exited).toEqual({ code: 0, stderr: "" });

    for (const [index, session] of sessions.entries()) {
      const { rows } = await readBack("shared", session);
      expect(idsOf(rows).sort()).toEqual(writers[index]?.told().attempted.sort());
      expect(rows).toHaveLength(1000);
      expect(rows.every((row) => row.status === "ok" && row.result_hash === row.call_id)).toBe(true);
    }
  });

  test("a call running in a live process stays running, and becomes unknown once that is killed", async () => {
    const live = start({ home: "owners", session: "live", callsPerLane: 1_000_000 });
    await live.ready;
    const statusesWhileAlive = new Set<string>();
    const look = async () => {
      const { rows, recovered } = await readBack("owners", "live");
      expect(recovered).toEqual([]);
      for (const row of rows) statusesWhileAlive.add(row.status);
      return statusesWhileAlive;
    };
    await expect.poll(look, { timeout: 10_000 }).toEqual(new Set(["running", "ok"]));

    live.process.kill("SIGKILL");
    await live.exited;
    const afterwards = await readBack("owners", "live");
    expect(afterwards.rows.some((row) => row.status === "running")).toBe(false);
    expect(afterwards.recovered.every((row) => row.status === "unknown")).toBe(true);
  });
});

/** Log-uniform between 1 and 500 ms: as many kills in the first few milliseconds as in the last hundreds. */
const randomDelay = () => Math.exp(Math.random() * Math.log(500));

async function killOnce(home: string, session: string): Promise<number> {
  const running = start({ home, session, callsPerLane: 1_000_000 });
  // Every fifth dies while it still starts: opening, migrating, recovering.
  if (!session.endsWith("5")) await running.ready;
  await sleep(randomDelay());
  running.process.kill("SIGKILL");
  expect((await running.exited).stderr).toBe("");

  const told = running.told();
  const { rows, recovered, notices } = await readBack(home, session);
  const byId = new Map(rows.map((row) => [row.call_id, row]));
  const attempted = new Set(told.attempted);
  expect(notices).toEqual([]);
  expect(byId.size, "no call is recorded twice").toBe(rows.length);
  expect(idsOf(rows).filter((id) => !attempted.has(id))).toEqual([]);
  expect(told.begun.filter((id) => !byId.has(id))).toEqual([]);
  expect(told.acknowledged.filter((id) => byId.get(id)?.status !== "ok")).toEqual([]);
  expect(rows.filter((row) => row.damaged)).toEqual([]);
  const unknown = rows.filter((row) => row.status !== "ok");
  expect(unknown.every((row) => row.status === "unknown")).toBe(true);
  expect(idsOf(recovered).sort()).toEqual(idsOf(unknown).sort());
  expectLaneOrder(rows);
  return told.acknowledged.length;
}

/** Within a lane each call begins after the one before was acknowledged, so the rows must follow suit. */
function expectLaneOrder(newestFirst: readonly JournalRow[]): void {
  const lastCall = new Map<string, number>();
  for (const row of newestFirst.toReversed()) {
    const [, lane = "", call] = row.call_id.split("/");
    expect(Number(call)).toBe((lastCall.get(lane) ?? -1) + 1);
    lastCall.set(lane, Number(call));
  }
}

test(`kill -9 at ${KILLS} random moments loses no acknowledged call and invents none`, {
  timeout: 30_000 + KILLS * 2_000,
}, async () => {
  const remaining = Array.from({ length: KILLS }, (_, kill) => `kill-${kill}`);
  let acknowledged = 0;
  const line = async (home: string) => {
    for (let session = remaining.pop(); session !== undefined; session = remaining.pop()) {
      acknowledged += await killOnce(home, session);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, home) => line(`killed-${home}`)));
  expect(acknowledged).toBeGreaterThan(KILLS);
});
