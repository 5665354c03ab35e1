import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/cron/clock.js";
import { openJobs } from "../../src/cron/jobs.js";
import type { JobSession } from "../../src/cron/run-job.js";
import { Scheduler, type SchedulerOptions } from "../../src/cron/scheduler.js";
import type { Job, JobDraft, ScheduledJobs } from "../../src/cron/types.js";
import { createLogger } from "../../src/observe/log.js";
import { openStore } from "../../src/store/store.js";
import type { CallResult } from "../../src/tool/call.js";
import { text } from "../../src/tool/content.js";
import { onTestEnd, tempDir } from "../support/runtime.js";

export const START = Date.parse("2026-11-15T16:00:00Z");
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Time that passes when the test says so. */
export class TestClock implements Clock {
  #now = START;
  readonly #timers = new Map<object, { readonly at: number; readonly work: () => void }>();
  /** Runs under way, and those of them whose work waits for something: for this clock, mostly. */
  readonly counts = { underWay: 0, waiting: 0 };

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const key = {};
    this.#timers.set(key, { at: this.#now + ms, work });
    return () => this.#timers.delete(key);
  }

  setBack(ms: number): void {
    this.#now -= ms;
  }

  /** Runs what falls due on the way, in order, and lets what it started come to rest in between. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settled();
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      const [key, { at, work }] = due;
      this.#timers.delete(key);
      this.#now = Math.max(this.#now, at);
      work();
      await this.#settled();
    }
    this.#now = end;
  }

  /** Files and the database take real time, in which this clock must stand still. */
  async #settled(): Promise<void> {
    const { counts } = this;
    do await new Promise((resolve) => setImmediate(resolve));
    while (counts.underWay !== counts.waiting);
  }
}

export type Work = (
  call: { readonly name: string; readonly arguments: unknown },
  signal: AbortSignal,
) => Promise<string>;

export interface Home {
  readonly folder: string;
  readonly clock: TestClock;
  readonly jobs: ScheduledJobs;
  readonly logged: readonly string[];
  /** Another scheduler of this home, with a database connection of its own. */
  scheduler(
    options?: Partial<Omit<SchedulerOptions, "limits">> & {
      work?: Work;
      limits?: Partial<SchedulerOptions["limits"]>;
    },
  ): Promise<Scheduler>;
  add(draft: Partial<JobDraft>): Promise<Job>;
  /** Makes the row of a job unreadable. */
  damage(id: string): void;
}

/** A Hermes home with real tables, where sessions only pretend to work. */
export async function openHome(): Promise<Home> {
  const folder = tempDir();
  const path = join(folder, "state.db");
  const clock = new TestClock();
  const logged: string[] = [];
  const connect = async () => {
    const store = await openStore({ path });
    onTestEnd(() => store.close());
    return store;
  };
  const store = await connect();
  const jobs = openJobs({ store, timezone: "UTC", now: () => clock.now() });
  mkdirSync(join(folder, "scripts"));
  return {
    folder,
    clock,
    jobs,
    logged,
    damage: (id) => void store.db.prepare("UPDATE cron_jobs SET detail = '{' WHERE id = ?").run(id),
    add: (draft) =>
      jobs.create({
        schedule: "every 1h",
        toolCall: { name: "work", arguments: {} },
        workdir: folder,
        ...draft,
      }),
    async scheduler({ work = async () => "done", limits, ...options } = {}) {
      const scheduler = new Scheduler({
        store: await connect(),
        clock,
        log: createLogger({ level: "debug", sink: (line) => void logged.push(line) }),
        timezone: "UTC",
        outputDir: join(folder, "cron", "output"),
        scriptsDir: join(folder, "scripts"),
        scriptTimeoutS: 60,
        openSession: async () => pretendSession(work, clock.counts),
        emit: ({ type }) => {
          if (type === "job.started") clock.counts.underWay += 1;
          if (type === "job.finished") clock.counts.underWay -= 1;
        },
        ...options,
        limits: {
          maxParallel: 4,
          tickMs: 10 * MINUTE,
          catchUpMs: 300_000,
          leaseMs: 15_000,
          runMs: HOUR,
          giveUpMs: 10_000,
          ...limits,
        },
      });
      onTestEnd(async () => {
        const stopped = scheduler.stop({ finishMs: 0, abortMs: 0 });
        await clock.pass(1);
        await clock.pass(1);
        await stopped;
      });
      return scheduler;
    },
  };
}

function pretendSession(work: Work, counts: { waiting: number }): JobSession {
  return {
    has: () => false,
    async call(request, { signal }): Promise<CallResult> {
      const base = {
        id: "c",
        name: request.name,
        called_as: request.name,
        duration_ms: 1,
        environment: "local",
        truncated: false,
      };
      counts.waiting += 1;
      try {
        const output = await work(request, signal);
        return { ...base, ok: true, state: "done", content: [text(output)], human: output };
      } catch (thrown) {
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        const error = { code: "failed", message } as const;
        return { ...base, ok: false, state: "partial", content: [], human: message, error };
      } finally {
        counts.waiting -= 1;
      }
    },
    close: () => undefined,
  };
}
