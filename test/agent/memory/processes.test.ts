import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entriesIn } from "../../../src/agent/memory/entries.js";
import { bundled, started } from "../../fixtures/agent/processes.js";
import { tempDir } from "../../support/runtime.js";

let writer: Awaited<ReturnType<typeof bundled>>;
beforeAll(async () => {
  writer = await bundled("memory-writer.ts");
});
afterAll(() => writer.remove());

const start = (folder: string, told: string, { name, count }: { name: string; count: number }) =>
  started(writer.script, { args: [folder, name, String(count)], tellFile: join(told, name) });
const entriesOf = (folder: string) => entriesIn(readFileSync(join(folder, "MEMORY.md"), "utf8"));

test("two processes that write at once lose nothing", { timeout: 60_000 }, async () => {
  const [folder, told] = [tempDir(), tempDir()];
  const writers = ["one", "two"].map((name) => start(folder, told, { name, count: 60 }));
  for (const { exited } of writers) expect(await exited).toEqual({ code: 0, stderr: "" });
  const entries = entriesOf(folder);
  expect([...entries].sort()).toEqual(writers.flatMap((one) => one.told("acknowledged")).sort());
  expect(entries).toHaveLength(120);
});

test("killed at any moment, what was acknowledged is there, the file is whole and the next one goes on", {
  timeout: 120_000,
}, async () => {
  const [folder, told] = [tempDir(), tempDir()];
  const acknowledged: string[] = [];
  for (let kill = 0; kill < 25; kill += 1) {
    const running = start(folder, told, { name: `k${kill}`, count: 100_000 });
    await running.ready;
    await expect
      .poll(() => running.told("acknowledged").length, { timeout: 30_000, interval: 5 })
      .toBeGreaterThan(0);
    await sleep(Math.random() * 40);
    running.process.kill("SIGKILL");
    expect((await running.exited).stderr).toBe("");
    acknowledged.push(...running.told("acknowledged"));
    const entries = new Set(entriesOf(folder));
    expect(acknowledged.filter((entry) => !entries.has(entry))).toEqual([]);
    expect([...entries].filter((entry) => !/^k\d+\/\d+$/.test(entry))).toEqual([]);
  }
  const last = start(folder, told, { name: "last", count: 1 });
  expect((await last.exited).code).toBe(0);
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
