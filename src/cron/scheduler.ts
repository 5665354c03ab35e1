import { describeThrown } from "../tool/thrown.js";
import { type CarryOutParts, carryOut, type RunReport, type SchedulerOptions } from "./carry-out.js";
import { type Claim, Claims } from "./claims.js";
import { findJob } from "./find-job.js";
import { followTimezone } from "./follow-timezone.js";
import { type JobRow, JobRows } from "./job-rows.js";
import { ON_TIME_MS, placesTaken } from "./job-view.js";
import { RunRows } from "./run-rows.js";
import { SchedulerRows } from "./scheduler-rows.js";

export type { RunReport, SchedulerLimits, SchedulerOptions } from "./carry-out.js";

interface Running {
  readonly name: string;
  readonly controller: AbortController;
  readonly done: Promise<RunReport>;
  /** A person is asked something: meanwhile it does not take the place of another job. */
  waiting: boolean;
}

/** After a failure of the database, or with a job that cannot be scheduled. */
const PAUSE_MS = 1_000;
const FINISH_MS = 3_000;
const ABORT_MS = 2_000;

/** Runs the jobs of one Hermes home when their time has come. Others may do the same in other processes. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #claims: Claims;
  readonly #jobs: JobRows;
  readonly #runs: RunRows;
  readonly #presence: SchedulerRows;
  readonly #running = new Map<string, Running>();
  #cancelLook: (() => void) | undefined;
  #cancelRenewal: (() => void) | undefined;
  /** Jobs that could not be looked at, with the reason that was told. */
  readonly #troubles = new Map<string, string>();
  /** Due times that were told to be late, by job. */
  readonly #late = new Map<string, number | undefined>();
  #started = false;
  #stopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { store, limits } = options;
    this.#claims = new Claims(store, limits);
    this.#jobs = new JobRows(store);
    this.#runs = new RunRows(store);
    this.#presence = new SchedulerRows(store);
  }

  /** From now on it runs what is due, until it is stopped. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#look();
  }

  /** Something has changed: looks at once. */
  wake(): void {
    if (!this.#started) return;
    this.#cancelLook?.();
    this.#cancelLook = this.#options.clock.after(0, () => this.#look());
  }

  /** Runs what is due at this moment, and waits for it. */
  async tick(): Promise<readonly RunReport[]> {
    const until = this.#options.clock.now();
    const reports: RunReport[] = [];
    this.#recover();
    for (;;) {
      const begun = this.#takeDue(until);
      if (begun.length === 0 && this.#running.size === 0) return reports;
      const done = [...this.#running.values()].map((running) => running.done);
      reports.push(await Promise.race(done));
    }
  }

  /** Runs one job here and now, whatever its schedule says. Throws a ToolError when it runs already. */
  async runNow(idOrName: string): Promise<RunReport | undefined> {
    const { id } = findJob(this.#jobs.list(), idOrName);
    this.#recover();
    this.#jobs.askForRun(id, this.#options.clock.now());
    const row = this.#jobs.get(id);
    const claim = row && row.owner === undefined ? this.#claims.takeDue(row, this.#rules(row.id)) : undefined;
    return claim === undefined ? undefined : this.#begin(claim).done;
  }

  /** Lets what runs finish for a while, then stops it. */
  async stop({ finishMs = FINISH_MS, abortMs = ABORT_MS } = {}): Promise<void> {
    this.#started = false;
    this.#stopped = true;
    this.#cancelLook?.();
    await this.#idle(finishMs);
    for (const { controller } of this.#running.values())
      controller.abort(new Error("the scheduler was stopped"));
    await this.#idle(abortMs);
    this.#cancelRenewal?.();
    this.#presence.gone(this.#claims.owner);
  }

  #look(): void {
    if (!this.#started) return;
    this.#cancelLook?.();
    const { clock, limits, log } = this.#options;
    let wait = limits.tickMs;
    try {
      this.#presence.seen(this.#claims.owner, clock.now());
      this.#recover();
      followTimezone(this.#jobs, { timezone: this.#options.timezone, now: clock.now() });
      this.#takeWaiting();
      this.#takeDue(clock.now());
      this.#tellLate();
      // With all places taken, the end of a run is what to wait for; but who is late is to be told.
      wait = Math.min(wait, this.#untilDue() + (this.#hasPlace() ? 0 : ON_TIME_MS + 1));
      if (this.#troubles.size > 0) wait = Math.max(wait, PAUSE_MS);
    } catch (error) {
      log.error(`scheduled jobs could not be looked at: ${describeThrown(error).message}`);
      wait = Math.min(wait, PAUSE_MS);
    }
    this.#cancelLook = clock.after(wait, () => this.#look());
  }

  #untilDue(): number {
    const now = this.#options.clock.now();
    const due = this.#jobs.nextDueAt(this.#hasPlace() ? undefined : now - ON_TIME_MS);
    return due === undefined ? Number.POSITIVE_INFINITY : Math.max(0, due - now);
  }

  #recover(): void {
    const { clock, log } = this.#options;
    for (const { id, name } of this.#claims.recover(clock.now())) {
      log.warn(
        `the job ${name} (${id}) was running when its process died; what it did is unknown and it was not run again`,
      );
    }
  }

  #takeDue(until: number): readonly Running[] {
    const begun: Running[] = [];
    for (const row of this.#jobs.due(until)) {
      if (this.#stopped || !this.#hasPlace()) break;
      const claim = this.#claim(row);
      if (claim !== undefined) begun.push(this.#begin(claim));
    }
    return begun;
  }

  #hasPlace(): boolean {
    return this.#working().length < this.#options.limits.maxParallel;
  }

  #working(): readonly Running[] {
    return [...this.#running.values()].filter(({ waiting }) => !waiting);
  }

  /** Once for each due time that has to wait because others do not end. */
  #tellLate(): void {
    const { clock, log, emit } = this.#options;
    const now = clock.now();
    const late = this.#hasPlace() ? [] : this.#jobs.due(now - ON_TIME_MS);
    for (const id of this.#late.keys()) if (!late.some((row) => row.id === id)) this.#late.delete(id);
    for (const { id, name, nextRunAt, askedAt } of late) {
      const dueAt = askedAt ?? nextRunAt;
      if (this.#late.get(id) === dueAt) continue;
      this.#late.set(id, dueAt);
      const reason = placesTaken(this.#working().map((running) => running.name));
      log.warn(`the job ${name} (${id}) is late: ${reason}`);
      emit?.({ type: "job.late", id, name, due_at: dueAt ?? now, summary: reason, at: now });
    }
  }

  /** One job that cannot be scheduled, such as one in a time zone that does not exist, must not hold up the others. */
  #claim(row: JobRow): Claim | undefined {
    try {
      const claim = this.#claims.takeDue(row, this.#rules(row.id));
      this.#troubles.delete(row.id);
      return claim;
    } catch (error) {
      const { message } = describeThrown(error);
      if (this.#troubles.get(row.id) !== message) {
        this.#options.log.error(`the job ${row.name} (${row.id}) cannot be run: ${message}`);
      }
      this.#troubles.set(row.id, message);
      return undefined;
    }
  }

  /** What came due before there was an agent. */
  #takeWaiting(): void {
    if (this.#options.runPrompt === undefined) return;
    for (const run of this.#runs.waiting()) {
      if (!this.#hasPlace()) return;
      const claim = this.#claims.takeWaiting(run, this.#options.clock.now());
      if (claim !== undefined) this.#begin(claim);
    }
  }

  #rules(id: string) {
    const { clock, limits, timezone } = this.#options;
    const lateMs = Math.max(limits.catchUpMs, limits.tickMs + ON_TIME_MS);
    return { now: clock.now(), timezone, lateMs, starved: this.#late.has(id) };
  }

  #parts(controller: AbortController, onWaiting: CarryOutParts["onWaiting"]): CarryOutParts {
    return {
      options: this.#options,
      controller,
      onWaiting,
      claims: this.#claims,
      lastOutput: (id) => this.#runs.of(id, 20).find(({ outputPath }) => outputPath !== undefined),
    };
  }

  #begin(claim: Claim): Running {
    const controller = new AbortController();
    const onWaiting = (waiting: boolean) => {
      running.waiting = waiting;
      this.wake();
    };
    const running: Running = {
      name: claim.row.name,
      waiting: false,
      controller,
      done: carryOut(claim, this.#parts(controller, onWaiting)).finally(() => {
        this.#running.delete(claim.run.id);
        if (this.#running.size === 0) this.#cancelRenewal?.();
        this.wake();
      }),
    };
    this.#running.set(claim.run.id, running);
    if (this.#running.size === 1) this.#renewLater();
    return running;
  }

  /** Runs whose job was removed meanwhile, or given to somebody else, are stopped. */
  #renewLater(): void {
    const { clock, limits, log } = this.#options;
    this.#cancelRenewal = clock.after(limits.leaseMs / 3, () => {
      try {
        const mine = this.#claims.renew(clock.now());
        for (const [id, { controller }] of this.#running) {
          if (!mine.has(id)) controller.abort(new Error("its job was removed"));
        }
      } catch (error) {
        log.warn(`the lease of running jobs was not renewed: ${describeThrown(error).message}`);
      }
      if (this.#running.size > 0) this.#renewLater();
    });
  }

  async #idle(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(withinMs, resolve);
      void Promise.allSettled([...this.#running.values()].map(({ done }) => done)).then(() => {
        cancel();
        resolve();
      });
    });
  }
}
