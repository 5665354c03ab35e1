import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LogMover } from "../../src/store/log-mover.js";
import { openStore, type Store } from "../../src/store/store.js";
import { bundleWriter } from "../fixtures/journal/writer-process.js";

const ROW_CHARS = 40_000;

let folder: string;
let path: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-mover-"));
  path = join(folder, "state.db");
  store = await openStore({ path });
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const pagesBeforeOwnCheckpoint = () =>
  store.db.prepare("PRAGMA wal_autocheckpoint").get()?.wal_autocheckpoint;

async function write(rounds: number): Promise<void> {
  const insert = store.db.prepare(
    "INSERT INTO calls (owner, written_at, running, detail) VALUES ('one', ?, 0, ?)",
  );
  for (let round = 0; round < rounds; round += 1) {
    insert.run(round, JSON.stringify({ text: "x".repeat(ROW_CHARS) }));
    await store.syncWal();
  }
}

describe("the log of a database", () => {
  test("that is written a lot is emptied by a thread, and nothing is lost", async () => {
    await write(100);
    expect(pagesBeforeOwnCheckpoint()).toBe(8_000);
    await write(30);
    await vi.waitFor(async () => expect((await stat(path)).size).toBeGreaterThan(64 * ROW_CHARS), 10_000);
    await write(1_000);
    // Somebody who writes without a pause never leaves it empty; it begins anew all the same.
    const logBytes = (await stat(`${path}-wal`)).size;
    expect(logBytes).toBeLessThan(9_000 * 4_200);
    expect(logBytes).toBeLessThan(1_130 * ROW_CHARS);
    await store.close();
    store = await openStore({ path, checkWhole: true });
    expect(store.notices).toEqual([]);
    expect(store.db.prepare("SELECT count(*) AS n FROM calls").get()?.n).toBe(1_130);
  });

  test("that is written little is left to SQLite", async () => {
    await write(20);
    expect(pagesBeforeOwnCheckpoint()).toBe(1_000);
  });

  test("is SQLite's task again when the thread fails", async () => {
    const mover = new LogMover({ db: store.db, path: folder });
    for (let sync = 0; sync < 64; sync += 1) mover.synced();
    expect(pagesBeforeOwnCheckpoint()).toBe(8_000);
    await vi.waitFor(() => expect(pagesBeforeOwnCheckpoint()).toBe(1_000), 10_000);
    await mover.close();
  });

  test("is left alone by a process that ends, which ends as it said", async () => {
    const { script, remove } = await bundleWriter("store/exits-while-moving.ts");
    for (let laterMs = 0; laterMs < 60; laterMs += 5) {
      const ended = new Promise((resolve) =>
        execFile(process.execPath, [script, path, String(laterMs)], (error, _stdout, stderr) =>
          resolve({ code: error?.code, stderr }),
        ),
      );
      expect(await ended).toEqual({ code: 7, stderr: "" });
    }
    await remove();
  });
});
