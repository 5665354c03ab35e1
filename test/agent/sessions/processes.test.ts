import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main, plainEnvironment } from "../../cli/hermes.js";
import { bundled, type Running, started } from "../../fixtures/agent/processes.js";
import { tempDir } from "../../support/runtime.js";
import { conversations } from "./support.js";

const KILLS = 40;

let writer: Awaited<ReturnType<typeof bundled>>;
beforeAll(async () => {
  writer = await bundled("session-writer.ts");
});
afterAll(() => writer.remove());

function start(
  home: string,
  { name, turns, searches = false }: { name: string; turns: number; searches?: boolean },
): Running {
  return started(writer.script, {
    args: [home, name, String(turns), searches ? "yes" : ""],
    tellFile: join(home, `${name}.told`),
  });
}

describe("several processes on one home", () => {
  test("three that open it at once, write and search lose nothing", { timeout: 60_000 }, async () => {
    const home = tempDir();
    const writers = ["one", "two", "three"].map((name) => start(home, { name, turns: 60, searches: true }));
    for (const { exited } of writers) expect(await exited).toEqual({ code: 0, stderr: "" });
    const store = await conversations(home);
    for (const [index, running] of writers.entries()) {
      const [id = ""] = running.told("begun");
      const kept = await store.messages(id);
      expect(kept.map((message) => message.id)).toEqual(running.told("acknowledged"));
      expect(kept).toHaveLength(120);
      const name = ["one", "two", "three"][index];
      const found = await store.search({ words: `answer ${name} 59`, limit: 1 });
      expect(found).toMatchObject([{ session: id, snippet: `answer ${name}/59` }]);
    }
    expect(await store.check()).toEqual({ messages: [], index: [] });
  });

  test("killed at any moment: all that was acknowledged is there, the rest is whole, and it reads cut_off", {
    timeout: 120_000,
  }, async () => {
    const home = tempDir();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const running = start(home, { name: `k${kill}`, turns: 1_000_000, searches: kill % 2 === 0 });
      // Every fifth dies while it still starts.
      if (kill % 5 !== 0) await running.ready;
      await sleep(Math.exp(Math.random() * Math.log(300)));
      running.process.kill("SIGKILL");
      expect((await running.exited).stderr).toBe("");
      const store = await conversations(home);
      expect(store.notices).toEqual([]);
      const [id] = running.told("begun");
      if (id !== undefined) {
        const kept = await store.messages(id);
        const ids = new Set(kept.map((message) => message.id));
        expect(running.told("acknowledged").filter((message) => !ids.has(message))).toEqual([]);
        expect(kept.map(({ content }) => String(content).split(" ")[0])).toEqual(
          kept.map((_, index) => (index % 2 === 0 ? "question" : "answer")),
        );
        expect(await store.get(id)).toMatchObject({ state: "cut_off", messages: kept.length });
        expect(await store.begin(id)).toBe(true);
        await store.end(id);
        expect((await store.search({ words: `k${kill}`, limit: 100 })).length).toBe(
          Math.min(kept.length, 100),
        );
      }
      await store.close();
    }
    const store = await conversations(home);
    expect(await store.check()).toEqual({ messages: [], index: [] });
  });
});

test("lesson 71: 20 short runs of the program beside one that writes break nothing", {
  timeout: 120_000,
}, async () => {
  const home = tempDir();
  const live = start(home, { name: "live", turns: 1_000_000, searches: true });
  await live.ready;
  const run = (args: readonly string[]) =>
    promisify(execFile)(process.execPath, [main, ...args, "--json"], {
      env: plainEnvironment(home),
      cwd: home,
    });
  const kinds = [
    ["sessions", "list"],
    ["sessions", "search", "question"],
    ["doctor"],
    ["sessions", "list", "--all"],
  ];
  const runs = Array.from({ length: 20 }, (_, index) => run(kinds[index % kinds.length] ?? []));
  for (const { stdout } of await Promise.all(runs)) JSON.parse(stdout);
  live.process.kill("SIGTERM");
  await live.exited;
  const store = await conversations(home);
  const [id = ""] = live.told("begun");
  const ids = new Set((await store.messages(id)).map((message) => message.id));
  const lost = live.told("acknowledged").filter((message) => !ids.has(message));
  expect(lost).toEqual([]);
  expect(ids.size).toBeGreaterThan(20);
  expect(store.notices).toEqual([]);
  expect(await store.check()).toEqual({ messages: [], index: [] });
});
