import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "../store/store.js";
import { ToolError } from "../tool/errors.js";
import { checkDraft, invalid, nameFor } from "./check-draft.js";
import { anchorOf, detailOf, freeName, isUsedUp, ownName, repeatOf, withChange } from "./draft-row.js";
import { findJob } from "./find-job.js";
import { followTimezone, zoneNamed } from "./follow-timezone.js";
import { isAbandoned, type JobChange, type JobRow, JobRows } from "./job-rows.js";
import { jobOf, placesTaken } from "./job-view.js";
import { RunRows } from "./run-rows.js";
import { nextDue, readSchedule, type Schedule, storedSchedule, tidySchedule } from "./schedule.js";
import { SchedulerRows } from "./scheduler-rows.js";
import { transaction } from "./transaction.js";
import type { Job, JobDraft, JobRun, RunRequestOutcome, ScheduledJobs } from "./types.js";

export interface JobsOptions {
  readonly store: Store;
  readonly timezone: string;
  /** Jobs that may run at the same time. */
  readonly maxParallel?: number | undefined;
  now?(): number;
  /** Throws a ToolError when a toolset is unknown. */
  checkToolsets?(names: readonly string[]): void;
  /** Told after each change, so that a scheduler of this process need not wait for its next look. */
  changed?(change: { readonly job: string; readonly name: string; readonly action: JobAction }): void;
}

export type JobAction = "created" | "updated" | "paused" | "resumed" | "asked" | "removed";

const MOST_JOBS = 1_000;
/** How long the wish to run a job waits for a scheduler. */
const TAKEN_UP_WITHIN_MS = 5_000;
const LOOK_MS = 50;

/** The jobs in the database of one Hermes home; several processes may have it open. */
export function openJobs(options: JobsOptions): ScheduledJobs {
  return new Jobs(options);
}

class Jobs implements ScheduledJobs {
  readonly #options: JobsOptions;
  readonly #rows: JobRows;
  readonly #runs: RunRows;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#rows = new JobRows(options.store);
    this.#runs = new RunRows(options.store);
    followTimezone(this.#rows, { timezone: options.timezone, now: this.#now() });
  }

  async create(draft: JobDraft, { paused = false } = {}): Promise<Job> {
    this.#check(draft);
    const id = `job_${randomBytes(4).toString("hex")}`;
    transaction(this.#options.store, () => this.#add({ id, draft, paused }));
    return this.#changed(id, "created");
  }

  #add({
    id,
    draft,
    paused,
  }: {
    readonly id: string;
    readonly draft: JobDraft;
    readonly paused: boolean;
  }): void {
    const now = this.#now();
    const schedule = this.#read(draft.schedule, now);
    const rows = this.#rows.list();
    if (rows.length >= MOST_JOBS) {
      throw new ToolError(`There are ${rows.length} jobs, and no more are possible.`, {
        code: "over_budget",
        hint: "Remove some that are finished.",
      });
    }
    this.#rows.add({
      id,
      name: draft.name === undefined ? freeName(nameFor(draft), rows) : ownName(draft.name, { rows, id }),
      schedule: tidySchedule(draft.schedule),
      kind: schedule.kind,
      anchorAt: anchorOf(schedule, now),
      state: paused ? "paused" : "scheduled",
      createdAt: now,
      nextRunAt: nextDue(schedule, { after: now, timezone: this.#options.timezone }),
      repeat: repeatOf(draft.repeat, schedule),
      detail: { ...detailOf(draft, rows), timezone: zoneNamed(this.#options.timezone) },
    });
  }

  async list(): Promise<readonly Job[]> {
    const latest = this.#runs.latest();
    const rows = this.#rows.list();
    const late = this.#whyLate(rows);
    return rows.map((row) => this.#view(row, { lastRun: latest.get(row.id), late }));
  }

  async get(idOrName: string): Promise<Job> {
    const row = this.#find(idOrName);
    return this.#view(row, { lastRun: this.#runs.of(row.id, 1)[0], late: this.#whyLate(this.#rows.list()) });
  }

  async runs(idOrName: string, { limit = 20 } = {}): Promise<readonly JobRun[]> {
    return this.#runs.of(this.#find(idOrName).id, limit);
  }

  async update(idOrName: string, change: Partial<JobDraft>): Promise<Job> {
    const { id } = this.#find(idOrName);
    const rows = this.#rows.list();
    this.#rows.change(id, (row) => this.#changeOf(row, { change, rows }));
    return this.#changed(id, "updated");
  }

  async pause(idOrName: string): Promise<Job> {
    const { id } = this.#find(idOrName);
    this.#rows.change(id, ({ state, name }) => {
      if (state !== "finished") return { state: "paused" };
      throw invalid(`The job ${JSON.stringify(name)} is finished and cannot be paused.`, GIVE_SCHEDULE);
    });
    return this.#changed(id, "paused");
  }

  async resume(idOrName: string): Promise<Job> {
    const { id } = this.#find(idOrName);
    this.#rows.change(id, (row) => {
      if (row.state === "scheduled") return {};
      const now = this.#now();
      const schedule = storedSchedule(row.kind === "interval" ? { ...row, anchorAt: now } : row);
      const nextRunAt = isUsedUp(row)
        ? undefined
        : nextDue(schedule, { after: now, timezone: this.#options.timezone });
      if (nextRunAt !== undefined)
        return { state: "scheduled", nextRunAt, anchorAt: anchorOf(schedule, now) };
      throw invalid(
        `The job ${JSON.stringify(row.name)} has no run left: its time has passed.`,
        GIVE_SCHEDULE,
      );
    });
    return this.#changed(id, "resumed");
  }

  async run(idOrName: string): Promise<RunRequestOutcome> {
    const { id } = this.#find(idOrName);
    this.#rows.askForRun(id, this.#now());
    await this.#changed(id, "asked");
    const scheduler = new SchedulerRows(this.#options.store).anyAlive(this.#now());
    const taken = scheduler && (await this.#takenUp(id));
    return {
      job: await this.get(id),
      taken,
      ...(!taken && { note: scheduler ? SOON : NO_SCHEDULER }),
    };
  }

  async remove(idOrName: string): Promise<Job> {
    const job = await this.get(idOrName);
    this.#rows.remove(job.id);
    await this.#options.store.syncWal();
    this.#options.changed?.({ job: job.id, name: job.name, action: "removed" });
    return job;
  }

  #changeOf(
    row: JobRow,
    { change, rows }: { change: Partial<JobDraft>; rows: readonly JobRow[] },
  ): JobChange {
    const draft = withChange(row.detail, change);
    this.#check({ ...draft, name: change.name });
    const now = this.#now();
    const newSchedule = change.schedule === undefined ? undefined : this.#read(change.schedule, now);
    const schedule = newSchedule ?? storedSchedule(row);
    const begins = newSchedule !== undefined || (change.repeat !== undefined && row.state === "finished");
    const nextRunAt = nextDue(schedule, { after: now, timezone: this.#options.timezone });
    return {
      ...(change.name !== undefined && { name: ownName(change.name, { rows, id: row.id }) }),
      ...(newSchedule !== undefined && {
        schedule: tidySchedule(change.schedule ?? row.schedule),
        kind: newSchedule.kind,
        anchorAt: anchorOf(newSchedule, now),
      }),
      ...(begins && {
        nextRunAt,
        state: row.state === "paused" ? "paused" : nextRunAt === undefined ? "finished" : "scheduled",
        ...(row.state === "finished" && { runs: 0 }),
      }),
      // The one run of a single time says nothing about a schedule that comes again, nor the other way round.
      repeat: repeatOf(
        change.repeat ?? (schedule.kind === "once" || row.kind === "once" ? undefined : row.repeat),
        schedule,
      ),
      detail: detailOf(draft, rows),
    };
  }

  #check(draft: Omit<JobDraft, "schedule">): void {
    checkDraft(draft);
    if (draft.enabledToolsets !== undefined) this.#options.checkToolsets?.(draft.enabledToolsets);
  }

  async #takenUp(id: string): Promise<boolean> {
    for (const deadline = performance.now() + TAKEN_UP_WITHIN_MS; performance.now() < deadline; ) {
      if (this.#rows.get(id)?.askedAt === undefined) return true;
      await delay(LOOK_MS);
    }
    return false;
  }

  async #changed(id: string, action: JobAction): Promise<Job> {
    await this.#options.store.syncWal();
    const job = await this.get(id);
    this.#options.changed?.({ job: id, name: job.name, action });
    return job;
  }

  #find(idOrName: string): JobRow {
    return findJob(this.#rows.list(), idOrName);
  }

  #view(row: JobRow, seen: { readonly lastRun: JobRun | undefined; readonly late: string }): Job {
    return jobOf(row, { ...seen, timezone: this.#options.timezone, now: this.#now() });
  }

  /** What a job whose time has come waits for. */
  #whyLate(rows: readonly JobRow[]): string {
    const now = this.#now();
    if (!new SchedulerRows(this.#options.store).anyAlive(now)) return NO_SCHEDULER;
    const running = rows.filter((row) => row.owner !== undefined && !isAbandoned(row, now));
    if (running.length < (this.#options.maxParallel ?? Number.POSITIVE_INFINITY)) return SOON;
    return placesTaken(running.map(({ name }) => name));
  }

  #read(schedule: string, now: number): Schedule {
    return readSchedule(schedule, { now, timezone: this.#options.timezone });
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

const GIVE_SCHEDULE = "Give it a new schedule with the action update, or run it once with the action run.";
const NO_SCHEDULER =
  "No scheduler is running. It runs when one is started: hermes serve, or once with hermes cron tick.";
const SOON = "A scheduler is running in another process and takes it up at its next look.";
