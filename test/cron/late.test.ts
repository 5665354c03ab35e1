import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openJobs } from "../../src/cron/jobs.js";
import { nextDue, readSchedule } from "../../src/cron/schedule.js";
import { openStore } from "../../src/store/store.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { HOUR, MINUTE, openHome, START, type Work } from "./support.js";

const untilAborted: Work = (_call, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));

describe("jobs that hang", () => {
  it("are told to be in the way of others, which are late and not scheduled", async () => {
    const home = await openHome();
    for (const name of ["a", "b"]) await home.add({ name, schedule: "1m" });
    const { id } = await home.add({ name: "starved", schedule: "2m" });
    const events: string[] = [];
    const scheduler = await home.scheduler({
      limits: { maxParallel: 2 },
      work: (call, signal) => untilAborted(call, signal),
      emit: (event) => {
        if (event.type === "job.started") home.clock.counts.underWay += 1;
        if (event.type === "job.finished") home.clock.counts.underWay -= 1;
        if (event.type === "job.late") events.push(`${event.name}: ${event.summary}`);
      },
    });
    scheduler.start();
    await home.clock.pass(3 * MINUTE);
    expect(events).toEqual([
      expect.stringMatching(/^starved: All 2 places are taken, by ("a", "b"|"b", "a")\./),
    ]);
    expect(home.logged.filter((line) => line.includes("is late"))).toHaveLength(1);
    expect(await home.jobs.get(id)).toMatchObject({ state: "late", nextRunAt: START + 2 * MINUTE });
  });

  it("end at their time limit, their own or the configured one, and others get their turn", async () => {
    const home = await openHome();
    const own = await home.add({ name: "own", schedule: "1m", timeLimit: 120 });
    const common = await home.add({ name: "common", schedule: "1m" });
    const next = await home.add({ name: "next", schedule: "2m" });
    const scheduler = await home.scheduler({
      limits: { maxParallel: 2, runMs: 10 * MINUTE },
      work: (call, signal) =>
        (call.arguments as { quick?: boolean }).quick === true
          ? Promise.resolve("quick")
          : untilAborted(call, signal),
    });
    await home.jobs.update(next.id, { toolCall: { name: "work", arguments: { quick: true } } });
    scheduler.start();
    await home.clock.pass(4 * MINUTE);
    expect((await home.jobs.runs(own.id))[0]).toMatchObject({
      status: "failed",
      summary: "stopped: it took longer than 120 s",
    });
    expect((await home.jobs.runs(next.id))[0]).toMatchObject({ status: "ok" });
    await home.clock.pass(8 * MINUTE);
    expect((await home.jobs.runs(common.id))[0]).toMatchObject({
      status: "failed",
      summary: "stopped: it took longer than 600 s",
    });
  });

  it("and do not even stop when they are told to, are given up", async () => {
    const home = await openHome();
    const { id } = await home.add({ schedule: "1m" });
    const scheduler = await home.scheduler({
      limits: { runMs: MINUTE },
      work: () => new Promise<string>(() => undefined),
      emit: ({ type }) => {
        if (type === "job.started") home.clock.counts.underWay += 1;
        // The work itself still waits.
        if (type === "job.finished") Object.assign(home.clock.counts, { underWay: 0, waiting: 0 });
      },
    });
    scheduler.start();
    await home.clock.pass(5 * MINUTE);
    await vi.waitFor(async () => expect((await home.jobs.runs(id))[0]).toMatchObject({ status: "failed" }));
  });

  it("say why a run was missed for them", async () => {
    const home = await openHome();
    await home.add({ name: "a", schedule: "1m" });
    const { id } = await home.add({ name: "starved", schedule: "2m" });
    const scheduler = await home.scheduler({
      limits: { maxParallel: 1, runMs: 30 * MINUTE, catchUpMs: MINUTE, tickMs: MINUTE },
      work: untilAborted,
    });
    scheduler.start();
    await home.clock.pass(40 * MINUTE);
    expect((await home.jobs.runs(id))[0]).toMatchObject({
      status: "missed",
      summary: expect.stringContaining("all places were taken by other jobs"),
    });
  });
});

describe("a run that waits for a person", () => {
  it("leaves its place to others, and its time stands still", async () => {
    const home = await openHome();
    const asking = await home.add({ name: "asking", schedule: "1m" });
    const next = await home.add({ name: "next", schedule: "2m" });
    let answer: () => void = () => undefined;
    const scheduler = await home.scheduler({
      limits: { maxParallel: 1, runMs: 5 * MINUTE },
      openSession: async (job, onWaiting) => ({
        has: () => false,
        close: () => undefined,
        async call(request, { signal }) {
          const result = { id: "c", name: request.name, called_as: request.name, duration_ms: 1 };
          const ended = {
            ...result,
            environment: "local",
            truncated: false,
            ok: true,
            state: "done" as const,
            content: [],
            human: "",
          };
          home.clock.counts.waiting += 1;
          if (job.name === "asking") {
            onWaiting(true);
            await new Promise<void>((resolve) => {
              answer = resolve;
            });
            onWaiting(false);
            if (signal.aborted) throw new Error("stopped");
          }
          home.clock.counts.waiting -= 1;
          return ended;
        },
      }),
    });
    scheduler.start();
    await home.clock.pass(HOUR);
    expect((await home.jobs.runs(next.id))[0]).toMatchObject({ status: "ok" });
    expect((await home.jobs.runs(asking.id))[0]).toMatchObject({ status: "running" });
    answer();
    await home.clock.pass(MINUTE);
    expect((await home.jobs.runs(asking.id))[0]).toMatchObject({ status: "ok" });
  });
});

describe("a list of jobs", () => {
  it("says that a job is late because nobody runs jobs", async () => {
    const { runtime } = await testRuntime([], { builtins: false });
    const { jobsOf } = await import("../../src/runtime/jobs.js");
    const jobs = jobsOf(runtime);
    const made = await jobs.create({ schedule: "1s", script: "true", workdir: "/" });
    const store = await runtime.store();
    store.db.prepare("UPDATE cron_jobs SET next_run_at = next_run_at - 60000 WHERE id = ?").run(made.id);
    expect(await jobs.list()).toMatchObject([
      { state: "late", late: expect.stringContaining("No scheduler is running") },
    ]);
  });
});

describe("clocks that change", () => {
  const timezone = "Europe/Berlin";
  const once = (given: string, now: string) => {
    const schedule = readSchedule(given, { now: Date.parse(now), timezone });
    return schedule.kind === "once" ? new Date(schedule.at).toISOString() : undefined;
  };
  const cron = (given: string, now: string) => {
    const after = Date.parse(now);
    return new Date(
      nextDue(readSchedule(given, { now: after, timezone }), { after, timezone }) ?? 0,
    ).toISOString();
  };

  it("mean the same for a single time and for a cron expression", () => {
    for (const [single, expression, now, expected] of [
      // Left out, in spring: when the clock goes on.
      ["2027-03-28T02:30", "30 2 28 3 *", "2027-03-01T00:00:00Z", "2027-03-28T01:00:00.000Z"],
      ["2027-03-28T02:00", "0 2 28 3 *", "2027-03-01T00:00:00Z", "2027-03-28T01:00:00.000Z"],
      // Twice, in autumn: the first.
      ["2027-10-31T02:30", "30 2 31 10 *", "2027-10-01T00:00:00Z", "2027-10-31T00:30:00.000Z"],
      ["2027-06-01T02:30", "30 2 1 6 *", "2027-05-01T00:00:00Z", "2027-06-01T00:30:00.000Z"],
    ] as const) {
      expect([single, once(single, now)]).toEqual([single, expected]);
      expect([expression, cron(expression, now)]).toEqual([expression, expected]);
    }
  });

  it("move cron expressions and single times alike when the time zone is another", async () => {
    const home = await openHome();
    const daily = await home.add({ schedule: "0 9 * * *" });
    const single = await home.add({ schedule: "2026-12-01T09:00" });
    const fixed = await home.add({ schedule: "2026-12-01T09:00Z" });
    const delay = await home.add({ schedule: "5h" });
    const store = await openStore({ path: join(home.folder, "state.db") });
    onTestEnd(() => store.close());
    const moved = openJobs({ store, timezone: "America/New_York", now: () => home.clock.now() });
    const next = async (id: string) => new Date((await moved.get(id)).nextRunAt ?? 0).toISOString();
    expect(await next(daily.id)).toBe("2026-11-16T14:00:00.000Z");
    expect(await next(single.id)).toBe("2026-12-01T14:00:00.000Z");
    expect(await next(fixed.id)).toBe("2026-12-01T09:00:00.000Z");
    expect(await next(delay.id)).toBe(new Date(START + 5 * HOUR).toISOString());
  });
});
