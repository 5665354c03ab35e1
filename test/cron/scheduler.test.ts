import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { HOUR, MINUTE, openHome, START, type Work } from "./support.js";

const dueTimes = (runs: readonly { dueAt: number }[]) => runs.map(({ dueAt }) => dueAt - START).reverse();

describe("a scheduler", () => {
  it("runs each due time once, and keeps a row and a file for it", async () => {
    const home = await openHome();
    const { id } = await home.add({ name: "hourly" });
    (await home.scheduler({ work: async ({ name }) => `${name} is done` })).start();
    await home.clock.pass(3 * HOUR + MINUTE);
    const runs = await home.jobs.runs(id);
    expect(dueTimes(runs)).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
    expect(runs.every(({ status, summary }) => status === "ok" && summary === "work is done")).toBe(true);
    const [last] = runs;
    expect(readFileSync(last?.outputPath ?? "", "utf8")).toContain("work is done");
    expect(statSync(last?.outputPath ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(dirname(last?.outputPath ?? "")).mode & 0o777).toBe(0o700);
    expect(await home.jobs.get(id)).toMatchObject({
      state: "scheduled",
      runs: 3,
      nextRunAt: START + 4 * HOUR,
    });
  });

  it("is finished with a single time, and with a job that has run as often as it should", async () => {
    const home = await openHome();
    const once = await home.add({ schedule: "30m" });
    const twice = await home.add({ schedule: "every 10m", repeat: 2 });
    (await home.scheduler()).start();
    await home.clock.pass(2 * HOUR);
    expect(await home.jobs.runs(once.id)).toHaveLength(1);
    expect(await home.jobs.runs(twice.id)).toHaveLength(2);
    expect(await home.jobs.get(once.id)).toMatchObject({ state: "finished", nextRunAt: undefined });
    expect(await home.jobs.get(twice.id)).toMatchObject({ state: "finished", runs: 2 });
  });

  it("never runs a job twice at the same time", async () => {
    const home = await openHome();
    let inside = 0;
    let most = 0;
    const { id } = await home.add({ schedule: "every 1m" });
    const work: Work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise<void>((resolve) => home.clock.after(150_000, resolve));
      inside -= 1;
      return "slow";
    };
    (await home.scheduler({ work })).start();
    await home.clock.pass(10 * MINUTE);
    expect(most).toBe(1);
    const runs = await home.jobs.runs(id);
    // What came due meanwhile is made up for once, and not told of as missed.
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["ok", "running"]));
    expect(dueTimes(runs)).toEqual([1, 3, 6, 8].map((minutes) => minutes * MINUTE));
  });

  it("runs no more jobs side by side than it may, and all of them in the end", async () => {
    const home = await openHome();
    let inside = 0;
    let most = 0;
    const work: Work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      // The first waits for company: taking the next job may last longer than any work here.
      await vi.waitUntil(() => most > 1, { timeout: 20_000 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      return "";
    };
    for (let at = 0; at < 7; at++) await home.add({ schedule: "10m" });
    const scheduler = await home.scheduler({ work, limits: { maxParallel: 2 } });
    await home.clock.pass(11 * MINUTE);
    expect(await scheduler.tick()).toHaveLength(7);
    expect(most).toBe(2);
  });

  it("makes up for the latest run that was missed, and tells of what it left out", async () => {
    const home = await openHome();
    const often = await home.add({ schedule: "*/1 * * * *" });
    const rarely = await home.add({ schedule: "0 17 * * *" });
    const once = await home.add({ schedule: "30m" });
    await home.clock.pass(2 * HOUR);
    const scheduler = await home.scheduler();
    expect((await scheduler.tick()).map(({ job }) => job.id)).toEqual([often.id]);
    expect((await home.jobs.runs(often.id)).map(({ status, dueAt }) => [status, dueAt - START])).toEqual([
      ["ok", 2 * HOUR],
      ["missed", MINUTE],
    ]);
    expect((await home.jobs.runs(rarely.id)).map(({ status }) => status)).toEqual(["missed"]);
    expect(await home.jobs.get(rarely.id)).toMatchObject({
      state: "scheduled",
      nextRunAt: Date.parse("2026-11-16T17:00:00Z"),
    });
    expect(await home.jobs.get(once.id)).toMatchObject({ state: "finished", lastRun: { status: "missed" } });
  });

  it("stops a run that takes too long, and one whose job was removed", async () => {
    const home = await openHome();
    const long = await home.add({ schedule: "1m", name: "long" });
    const removed = await home.add({ schedule: "1m", name: "removed" });
    const reasons: string[] = [];
    const work: Work = (_call, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          reasons.push(String(signal.reason));
          reject(signal.reason);
        }),
      );
    (await home.scheduler({ work, limits: { runMs: 5 * MINUTE } })).start();
    await home.clock.pass(90_000);
    await home.jobs.remove(removed.id);
    await home.clock.pass(20_000);
    expect(reasons).toEqual(["Error: its job was removed"]);
    await home.clock.pass(10 * MINUTE);
    const [run] = await home.jobs.runs(long.id);
    expect(run).toMatchObject({ status: "failed", summary: "stopped: it took longer than 300 s" });
    await expect(home.jobs.get(removed.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("keeps the last fifty outputs of a job", async () => {
    const home = await openHome();
    const { id } = await home.add({ schedule: "every 1m" });
    const scheduler = await home.scheduler();
    for (let minute = 0; minute < 55; minute++) {
      await home.clock.pass(MINUTE);
      await scheduler.tick();
    }
    const files = readdirSync(join(home.folder, "cron", "output", id)).sort();
    expect(files).toHaveLength(50);
    expect(files.at(-1)).toBe("2026-11-15T16-55-00.000Z.md");
  });

  it("goes on when the work fails in whatever way", async () => {
    const home = await openHome();
    const { id } = await home.add({ schedule: "every 1m" });
    let at = 0;
    const scheduler = await home.scheduler({
      openSession: async () => {
        at += 1;
        throw at % 2 === 0 ? "no error at all" : new Error("no session today");
      },
    });
    scheduler.start();
    await home.clock.pass(2 * MINUTE + 1000);
    expect((await home.jobs.runs(id)).map(({ status, summary }) => [status, summary])).toEqual([
      ["failed", "no error at all"],
      ["failed", "no session today"],
    ]);
  });
});

describe("odd circumstances", () => {
  it("a clock that was set back brings no due time twice", async () => {
    const home = await openHome();
    const { id } = await home.add({ schedule: "0 * * * *" });
    (await home.scheduler()).start();
    await home.clock.pass(HOUR + MINUTE);
    expect(await home.jobs.runs(id)).toHaveLength(1);
    home.clock.setBack(30 * MINUTE);
    await home.jobs.pause(id);
    await home.jobs.resume(id);
    await home.clock.pass(HOUR);
    expect(dueTimes(await home.jobs.runs(id))).toEqual([HOUR]);
    await home.clock.pass(HOUR);
    expect(dueTimes(await home.jobs.runs(id))).toEqual([HOUR, 2 * HOUR]);
  });

  it("a job that cannot be scheduled, or whose row is damaged, holds up no other", async () => {
    const home = await openHome();
    const zoned = await home.add({ schedule: "0 * * * *", name: "zoned" });
    const damaged = await home.add({ schedule: "every 1m", name: "damaged" });
    const good = await home.add({ schedule: "every 1m", name: "good" });
    const scheduler = await home.scheduler({ timezone: "Mars/Olympus" });
    home.damage(damaged.id);
    await home.clock.pass(HOUR + MINUTE);
    scheduler.start();
    await home.clock.pass(5 * MINUTE);
    expect((await home.jobs.get(good.id)).lastRun?.status).toBe("ok");
    expect((await home.jobs.get(damaged.id)).lastRun).toMatchObject({
      status: "failed",
      summary: "nothing to do",
    });
    expect(await home.jobs.runs(zoned.id)).toEqual([]);
    expect(home.logged.filter((line) => line.includes("Mars/Olympus"))).toHaveLength(1);
  });
});

describe("a prompt", () => {
  it("waits as long as there is no agent, and is run once when there is one", async () => {
    const home = await openHome();
    const once = await home.add({ schedule: "30m", prompt: "Summarise the news", toolCall: undefined });
    const daily = await home.add({ schedule: "every 1h", prompt: "Water the plants", toolCall: undefined });
    const without = await home.scheduler();
    without.start();
    await home.clock.pass(3 * HOUR + MINUTE);
    expect(await home.jobs.get(once.id)).toMatchObject({
      state: "waiting",
      lastRun: { status: "waiting", summary: "waiting: no agent", outputPath: undefined },
    });
    expect(await home.jobs.runs(daily.id)).toHaveLength(1);
    await without.stop({ finishMs: 0 });

    const asked: string[] = [];
    const withAgent = await home.scheduler({
      runPrompt: async ({ prompt }) => {
        asked.push(prompt);
        return { ok: true, output: "It is done." };
      },
    });
    withAgent.start();
    await home.clock.pass(1_000);
    expect(asked.sort()).toEqual(["Summarise the news", "Water the plants"]);
    expect(await home.jobs.get(once.id)).toMatchObject({
      state: "finished",
      lastRun: { status: "ok", summary: "It is done." },
    });
  });

  it("gets the last output of the jobs it names, and what its script has gathered", async () => {
    const home = await openHome();
    const source = await home.add({ schedule: "1m", name: "source" });
    await home.add({
      schedule: "2m",
      toolCall: undefined,
      prompt: "Compare",
      script: "uptime",
      contextFrom: ["source"],
    });
    const seen: unknown[] = [];
    const scheduler = await home.scheduler({
      work: async ({ name }) => (name === "terminal" ? "up for days" : "from the source"),
      runPrompt: async ({ context }) => {
        seen.push(...context);
        return { ok: true, output: "" };
      },
    });
    scheduler.start();
    await home.clock.pass(3 * MINUTE);
    expect(seen).toEqual([
      { from: source.id, text: expect.stringContaining("from the source") },
      { from: "script", text: "up for days" },
    ]);
  });
});

describe("two schedulers of one home", () => {
  it("never run a due time twice, and miss none", async () => {
    const home = await openHome();
    const jobs = [];
    for (const schedule of ["every 1s", "every 2s", "every 5s", "*/1 * * * *"]) {
      jobs.push(await home.add({ schedule }));
    }
    const ran: string[] = [];
    const by =
      (who: string): Work =>
      async () => {
        ran.push(who);
        return who;
      };
    const first = await home.scheduler({ work: by("first") });
    const second = await home.scheduler({ work: by("second") });
    for (let at = 0; at < 60; at++) {
      await home.clock.pass(1_000);
      await Promise.all([first.tick(), second.tick(), second.tick()]);
    }
    const counts = [];
    for (const { id } of jobs) {
      const runs = await home.jobs.runs(id, { limit: 1_000 });
      expect(runs.every(({ status }) => status === "ok")).toBe(true);
      expect(new Set(runs.map(({ dueAt }) => dueAt)).size).toBe(runs.length);
      counts.push(runs.length);
    }
    expect(counts).toEqual([60, 30, 12, 1]);
    expect(ran).toHaveLength(103);
  }, 20_000);

  it("a run whose scheduler cannot be seen but renews its lease is left alone", async () => {
    const home = await openHome();
    const { id } = await home.add({ schedule: "every 1h" });
    const elsewhere = await home.scheduler({
      work: () => new Promise((resolve) => home.clock.after(10 * MINUTE, () => resolve("late"))),
    });
    elsewhere.start();
    await home.clock.pass(HOUR + 1_000);
    const here = await home.scheduler();
    here.start();
    await home.clock.pass(5 * MINUTE);
    expect(await home.jobs.get(id)).toMatchObject({ state: "running" });
    await home.clock.pass(6 * MINUTE);
    expect(await home.jobs.get(id)).toMatchObject({
      state: "scheduled",
      lastRun: { status: "ok", summary: "late" },
    });
  });
});
