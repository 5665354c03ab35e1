import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openJobs } from "../../src/cron/jobs.js";
import { examine } from "../../src/runtime/doctor.js";
import { jobsOf } from "../../src/runtime/jobs.js";
import { openStore } from "../../src/store/store.js";
import { tempDir, testRuntime } from "../support/runtime.js";

const PAGE = 4096;

/** A home with jobs and many runs of them. */
async function homeWithJobs(summaryChars = 100): Promise<{ readonly home: string; readonly path: string }> {
  const home = tempDir();
  const path = join(home, "state.db");
  const store = await openStore({ path });
  const jobs = openJobs({ store, timezone: "UTC" });
  for (const name of ["one", "two", "three"]) {
    const { id } = await jobs.create({ schedule: "every 1h", script: "true", workdir: "/", name });
    const add = store.db.prepare(
      "INSERT INTO cron_runs (id, job_id, due_at, asked, status, summary, owner) VALUES (?, ?, ?, 0, 'ok', ?, 'x')",
    );
    for (let at = 0; at < 300; at += 1) add.run(`run_${name}_${at}`, id, at, "x".repeat(summaryChars));
  }
  store.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  await store.close();
  return { home, path };
}

/** Damages the pages in which this text stands, and no other. */
async function damagePagesWith(path: string, text: string): Promise<void> {
  const bytes = await readFile(path);
  let at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  at -= at % PAGE;
  bytes.fill(0xa5, at, at + 64);
  await writeFile(path, bytes);
}

/** As after a power cut: where the rows stand is still told, and the rows are gone. */
async function keepBeginningOfPageWith(path: string, text: string): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  const page = at - (at % PAGE);
  await writeFile(path, bytes.fill(0, page + 400, page + PAGE));
}

describe("a damaged database", () => {
  test("keeps the jobs that can be read, and names what was lost", async () => {
    const { home, path } = await homeWithJobs();
    await damagePagesWith(path, "run_two_150");
    const { runtime, logged } = await testRuntime([], { home });
    expect((await jobsOf(runtime).list()).map(({ name }) => name)).toEqual(["one", "two", "three"]);
    const told = logged.join("\n");
    expect(told).toMatch(/Recovered: 3 scheduled jobs, \d+ runs of jobs\./);
    expect(told).toContain("Lost: some runs of jobs.");
    const runs = (await runtime.store()).db.prepare("SELECT count(*) AS n FROM cron_runs").get()?.n;
    expect(Number(runs)).toBeGreaterThan(700);
    const names = await readdir(home);
    expect(names.filter((name) => /^state\.db\.corrupt-\w+$/.test(name))).toHaveLength(1);
    expect(names.filter((name) => name.includes(".reading"))).toEqual([]);
    const findings = (await examine(runtime)).map(({ what }) => what);
    expect(findings.join("\n")).toContain("Lost: some runs of jobs.");
  });

  test("that is found while it is in use is recovered at the next start", async () => {
    // Larger than what is looked at every time.
    const { path } = await homeWithJobs(3_000);
    await damagePagesWith(path, "run_two_150");
    const store = await openStore({ path });
    expect(store.check()).not.toEqual([]);
    await store.close();
    const next = await openStore({ path });
    expect(next.notices[0]).toContain("3 scheduled jobs");
    expect(next.check()).toEqual([]);
    await next.close();
  });

  test("with a page that is there in part: its rows all seem to have the number 0, and to say nothing", async () => {
    const { path } = await homeWithJobs();
    await keepBeginningOfPageWith(path, "run_two_150");
    const store = await openStore({ path });
    expect(store.notices[0]).toMatch(/Recovered: 3 scheduled jobs, \d+ runs of jobs\./);
    expect(store.notices[0]).toContain("Lost: some runs of jobs.");
    expect(store.check()).toEqual([]);
    await store.close();
  });
});
