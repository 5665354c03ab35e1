import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CONVERSATION_MIGRATIONS } from "../../../src/agent/sessions/schema.js";
import { openStore } from "../../../src/store/store.js";
import { bundled, started } from "../../fixtures/agent/processes.js";
import { tempDir } from "../../support/runtime.js";

let reader: Awaited<ReturnType<typeof bundled>>;
beforeAll(async () => {
  reader = await bundled("session-reader.ts");
});
afterAll(() => reader.remove());

/** 1 GB of messages: 200 conversations, the newest of which holds 300 MB, in messages of 500 kB. */
async function largeHome(): Promise<string> {
  const home = tempDir();
  const { db, close } = await openStore({
    path: join(home, "sessions.db"),
    migrations: CONVERSATION_MIGRATIONS,
    syncFile: async () => undefined,
  });
  db.exec(`
    PRAGMA synchronous = OFF;
    INSERT INTO conversations (id, title, source, owner, model, cwd, root, started_at, updated_at, messages, bytes)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      SELECT 'c' || i, 'Title ' || i, 'cli', '', 'm', '/', i, i, i, 0, 0 FROM n;
    INSERT INTO messages (conversation, role, at, text)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT iif(i <= 600, 200, 1 + i % 199), 'user', i, 'needle ' || replace(hex(zeroblob(100000)), '00', 'word ') FROM n;
    UPDATE conversations SET messages = (SELECT count(*) FROM messages WHERE conversation = conversations.seq);
  `);
  await close();
  return home;
}

test("lesson 74: a gigabyte of messages is listed, resumed, searched and read in little memory", {
  timeout: 300_000,
}, async () => {
  const home = await largeHome();
  // Otherwise the peak is mostly what the garbage collector has not yet looked at.
  const running = started(reader.script, {
    args: [home],
    tellFile: join(home, "told"),
    execArgv: ["--max-old-space-size=64"],
  });
  expect(await running.exited).toEqual({ code: 0, stderr: "" });
  const told = JSON.parse(running.told("read")[0] ?? "{}") as Record<string, number>;
  expect(told).toMatchObject({ conversations: 200, found: 5, read: 600 });
  expect(told.tails).toBeGreaterThan(100);
  expect(told.megabytes).toBeLessThan(250);
});
