import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { examineConversations } from "../../../src/agent/sessions/doctor.js";
import { tempDir, testRuntime } from "../../support/runtime.js";
import { conversations, filesIn, talk } from "./support.js";

const PAGE = 4096;

/** Damages the page in which this text stands first. */
async function damagePageWith(path: string, text: string): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  bytes.fill(0xa5, at - (at % PAGE), at - (at % PAGE) + 64);
  await writeFile(path, bytes);
}

test("of a damaged file all is kept that can be read: messages without their conversation get one", async () => {
  const home = tempDir();
  const { sessionsDb } = filesIn(home);
  const store = await conversations(home);
  const ids: string[] = [];
  for (let index = 0; index < 60; index += 1) {
    const id = await talk(store, [`question ${index}`, `needle ${index} ${"x".repeat(900)}`]);
    await store.update(id, { title: `named ${index} ${"t".repeat(300)}` });
    ids.push(id);
  }
  // Checkpoints the log, so that the damage is in the file.
  await store.delete(ids.pop() ?? "");
  await store.close();

  await damagePageWith(sessionsDb, "named 30 ");
  const again = await conversations(home);
  expect(again.notices[0]).toMatch(/Recovered: \d+ conversations, 118 messages\. Lost: some conversations/);
  const list = await again.list();
  expect(list.reduce((sum, { messages }) => sum + messages, 0)).toBe(118);
  expect(list.filter(({ title }) => title === "Recovered").length).toBeGreaterThan(0);
  expect(await again.search({ words: "needle 30", limit: 1 })).toMatchObject([
    { snippet: expect.stringContaining("needle 30") },
  ]);
  await again.close();

  const { runtime } = await testRuntime([], { home });
  const findings = await examineConversations(runtime.config);
  expect(findings.map(({ level }) => level)).toEqual(["ok", "warning"]);
  expect(findings[1]?.what).toContain("Lost: some conversations");
});
