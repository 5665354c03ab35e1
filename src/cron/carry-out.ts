import type { RuntimeEvent } from "../observe/events.js";
import type { Logger } from "../observe/log.js";
import type { Store } from "../store/store.js";
import { describeThrown } from "../tool/thrown.js";
import { archiveOutput } from "./archive.js";
import type { Claim, Claims, RunEnd } from "./claims.js";
import type { Clock } from "./clock.js";
import { jobOf } from "./job-view.js";
import { type JobSession, runJob, type WorkOutcome, type WorkParts } from "./run-job.js";
import type { Job, JobRun } from "./types.js";

export interface SchedulerOptions extends Pick<WorkParts, "runPrompt" | "scriptsDir" | "scriptTimeoutS"> {
  openSession(job: Job, onWaiting: (waiting: boolean) => void): Promise<JobSession>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timezone: string;
  /** Where outputs are kept, one folder for each job. */
  readonly outputDir: string;
  readonly limits: SchedulerLimits;
  emit?(event: RuntimeEvent): void;
  /** Takes secrets out of what is kept. */
  redact?(text: string): string;
}

export interface SchedulerLimits {
  readonly maxParallel: number;
  /** How often it looks for changes that were made elsewhere. */
  readonly tickMs: number;
  /** How late a run may be made up for. */
  readonly catchUpMs: number;
  /** A scheduler that is not heard of for so long, and whose process cannot be seen, is taken for dead. */
  readonly leaseMs: number;
  /** The longest time for one run that has no limit of its own; waiting for a person does not count. */
  readonly runMs: number;
  /** What does not stop this long after it was told to is given up. */
  readonly giveUpMs: number;
}

/** One that was done, or noted, by this scheduler. */
export interface RunReport {
  readonly job: Job;
  readonly run: JobRun;
}

export interface CarryOutParts extends Pick<WorkParts, "lastOutput"> {
  readonly options: SchedulerOptions;
  readonly controller: AbortController;
  readonly claims: Claims;
  /** Told when the run begins and ends to wait for a person. */
  onWaiting(waiting: boolean): void;
}

/** Runs a claimed job, keeps its output and notes how it went. Never rejects. */
export async function carryOut({ row, run }: Claim, parts: CarryOutParts): Promise<RunReport> {
  const { options, controller, lastOutput } = parts;
  const { clock, store, limits, timezone } = options;
  const { signal } = controller;
  const job = jobOf(row, { lastRun: run, timezone, now: clock.now() });
  const limit = new TimeLimit({
    clock,
    ms: job.timeLimit === undefined ? limits.runMs : job.timeLimit * 1000,
    reached: (ms) => controller.abort(new Error(`it took longer than ${ms / 1000} s`)),
  });
  const onWaiting = (waiting: boolean) => {
    limit.stand(waiting);
    parts.onWaiting(waiting);
  };
  tell(options, "job.started", { job, run });
  // A power cut must not make the claim, and with it the run, undone.
  await store.syncWal().catch(() => undefined);
  const openSession: WorkParts["openSession"] = (opened) => options.openSession(opened, onWaiting);
  const outcome = await Promise.race([
    runJob(job, { ...options, openSession, signal, lastOutput, onWaiting }),
    givenUp(signal, { clock, ms: limits.giveUpMs }),
  ]);
  limit.end();
  const stopped = signal.aborted ? describeThrown(signal.reason).message : undefined;
  const end: RunEnd = {
    status: stopped === undefined ? outcome.status : "failed",
    summary: clean(options, stopped === undefined ? outcome.summary : `stopped: ${stopped}`),
    outputPath: await archive(options, { job, run, outcome }),
  };
  const report = { job, run: { ...run, ...end, endedAt: clock.now() } };
  note(report, { ...parts, end });
  tell(options, "job.finished", report);
  return report;
}

/** A limit that stands still while a person thinks. */
class TimeLimit {
  readonly #clock: Clock;
  readonly #reached: () => void;
  #leftMs: number;
  #since: number;
  #cancel: (() => void) | undefined;

  constructor({
    clock,
    ms,
    reached,
  }: {
    readonly clock: Clock;
    readonly ms: number;
    readonly reached: (ms: number) => void;
  }) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#reached = () => reached(ms);
    this.#since = clock.now();
    this.stand(false);
  }

  stand(still: boolean): void {
    const now = this.#clock.now();
    if (this.#cancel !== undefined) this.#leftMs -= now - this.#since;
    this.#cancel?.();
    this.#since = now;
    this.#cancel = still ? undefined : this.#clock.after(Math.max(0, this.#leftMs), this.#reached);
  }

  end(): void {
    this.#cancel?.();
  }
}

/** For work that does not stop when it is told to: it must not keep its place for ever. */
function givenUp(
  signal: AbortSignal,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<WorkOutcome> {
  return new Promise((resolve) => {
    const giveUp = () =>
      clock.after(ms, () =>
        resolve({ status: "failed", summary: "", output: "[it did not stop when it was told to]" }),
      );
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}

function note({ run }: RunReport, { claims, end, options }: CarryOutParts & { readonly end: RunEnd }): void {
  try {
    claims.end(run, { ...end, endedAt: options.clock.now() });
  } catch (error) {
    options.log.error(`the outcome of ${run.id} was not written down: ${describeThrown(error).message}`);
  }
}

/** Nothing is kept of what has not been run. */
async function archive(
  options: SchedulerOptions,
  { job, run, outcome }: RunReport & { readonly outcome: WorkOutcome },
): Promise<string | undefined> {
  if (outcome.status === "waiting") return undefined;
  const { clock, log, outputDir } = options;
  try {
    const output = clean(options, outcome.output);
    return await archiveOutput(outputDir, { job, run, status: outcome.status, output, endedAt: clock.now() });
  } catch (error) {
    log.error(`the output of ${job.name} could not be kept: ${describeThrown(error).message}`);
    return undefined;
  }
}

function clean({ redact }: SchedulerOptions, text: string): string {
  return redact?.(text) ?? text;
}

function tell(
  { emit, clock }: SchedulerOptions,
  type: "job.started" | "job.finished",
  { job, run }: RunReport,
): void {
  emit?.({
    type,
    id: job.id,
    name: job.name,
    run: run.id,
    due_at: run.dueAt,
    ...(type === "job.finished" && { status: run.status, summary: run.summary }),
    at: clock.now(),
  });
}
