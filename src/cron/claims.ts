import { randomBytes } from "node:crypto";
import { newOwnerId } from "../store/process-owner.js";
import type { Store } from "../store/store.js";
import { decodeJob, isAbandoned, type JobRow, JobRows } from "./job-rows.js";
import { RunRows } from "./run-rows.js";
import { nextDue, storedSchedule } from "./schedule.js";
import { transaction } from "./transaction.js";
import type { JobRun } from "./types.js";

export interface Claim {
  readonly row: JobRow;
  readonly run: JobRun;
}

export type RunEnd = Pick<JobRun, "status" | "summary" | "outputPath">;

/**
 * Who runs what, among all schedulers of one Hermes home. A job is claimed by a conditional change of its row, so
 * each due time is run for by one scheduler, and a job never twice at the same time.
 */
export class Claims {
  readonly owner = newOwnerId();
  readonly #store: Store;
  readonly #leaseMs: number;
  readonly #jobs: JobRows;
  readonly #runs: RunRows;

  constructor(store: Store, { leaseMs }: { readonly leaseMs: number }) {
    this.#store = store;
    this.#leaseMs = leaseMs;
    this.#jobs = new JobRows(store);
    this.#runs = new RunRows(store);
  }

  /** Takes a due job, or notes that its time was missed; undefined when there is nothing to run. */
  takeDue(row: JobRow, rules: DueRules): Claim | undefined {
    const asked = row.askedAt !== undefined;
    const wished = { dueAt: row.askedAt, missed: undefined, nextRunAt: row.nextRunAt };
    const planned = asked ? wished : planDue(row, rules);
    return transaction(this.#store, () => {
      // A clock that was set back brings due times again that have been run for.
      const isNew = (at: number | undefined) =>
        at !== undefined && !this.#runs.has({ jobId: row.id, dueAt: at, asked });
      const plan = {
        ...planned,
        dueAt: isNew(planned.dueAt) ? planned.dueAt : undefined,
        missed: isNew(planned.missed) ? planned.missed : undefined,
      };
      const runId = plan.dueAt === undefined ? undefined : newRunId();
      const [taken] = this.#store.db
        .prepare(
          `UPDATE cron_jobs SET
             owner = ?1, lease_until = ?2, run_id = ?3, next_run_at = ?4,
             asked_at = iif(?5, NULL, asked_at), runs = runs + ?6,
             state = iif(?3 IS NULL AND ?4 IS NULL AND state = 'scheduled', 'finished', state)
           WHERE id = ?7 AND owner IS NULL AND next_run_at IS ?8 AND asked_at IS ?9
             AND (?5 OR state = 'scheduled')
           RETURNING *`,
        )
        .all(
          ...[
            runId === undefined ? null : this.owner,
            runId === undefined ? null : rules.now + this.#leaseMs,
          ],
          ...[runId ?? null, plan.nextRunAt ?? null, asked ? 1 : 0, !asked && runId !== undefined ? 1 : 0],
          ...[row.id, row.nextRunAt ?? null, row.askedAt ?? null],
        );
      if (taken === undefined) return undefined;
      const note = { jobId: row.id, asked, outputPath: undefined };
      if (plan.missed !== undefined) {
        const summary = `${rules.starved ? "all places were taken by other jobs" : "nobody ran it in time"}; noticed ${new Date(rules.now).toISOString()}`;
        const missed = { startedAt: undefined, endedAt: rules.now, status: "missed", summary } as const;
        this.#runs.add({ ...note, ...missed, id: newRunId(), dueAt: plan.missed }, this.owner);
      }
      if (runId === undefined || plan.dueAt === undefined) return undefined;
      const begun = { startedAt: rules.now, endedAt: undefined, status: "running", summary: "" } as const;
      const run: JobRun = { ...note, ...begun, id: runId, dueAt: plan.dueAt };
      this.#runs.add(run, this.owner);
      return { row: decodeJob(taken), run };
    });
  }

  /** Takes a run that has been waiting for an agent. */
  takeWaiting(run: JobRun, now: number): Claim | undefined {
    return transaction(this.#store, () => {
      const [taken] = this.#store.db
        .prepare(
          "UPDATE cron_jobs SET owner = ?, lease_until = ?, run_id = ? WHERE id = ? AND owner IS NULL RETURNING *",
        )
        .all(this.owner, now + this.#leaseMs, run.id, run.jobId);
      if (taken === undefined) return undefined;
      if (this.#runs.takeUpWaiting(run.id, { owner: this.owner, startedAt: now })) {
        return { row: decodeJob(taken), run: { ...run, status: "running", startedAt: now } };
      }
      this.#release(run, now);
      return undefined;
    });
  }

  /** Says that this scheduler is alive; answers which of its runs still count. */
  renew(now: number): ReadonlySet<string> {
    const rows = this.#store.db
      .prepare("UPDATE cron_jobs SET lease_until = ? WHERE owner = ? RETURNING run_id")
      .all(now + this.#leaseMs, this.owner);
    return new Set(rows.map(({ run_id }) => String(run_id)));
  }

  end(run: JobRun, end: RunEnd & { readonly endedAt: number }): void {
    transaction(this.#store, () => {
      this.#runs.end(run.id, end);
      if (end.status === "waiting") this.#runs.keepOneWaiting(run.jobId);
      this.#release(run, end.endedAt);
      this.#runs.prune(run.jobId);
    });
  }

  /** Frees the jobs whose scheduler died in the middle of a run. They are not run again for that due time. */
  recover(now: number): readonly JobRow[] {
    const found = this.#jobs.running().filter((row) => isAbandoned(row, now));
    return found.filter((row) =>
      transaction(this.#store, () => {
        const current = this.#jobs.get(row.id);
        if (current?.owner !== row.owner || current?.runId !== row.runId || row.runId === undefined)
          return false;
        const summary = "the process that ran it died; what it did is unknown, and it was not run again";
        this.#runs.end(row.runId, { status: "unknown", summary, outputPath: undefined, endedAt: now });
        this.#release({ id: row.runId, jobId: row.id }, now);
        return true;
      }),
    );
  }

  #release({ id, jobId }: Pick<JobRun, "id" | "jobId">, now: number): void {
    this.#store.db
      .prepare(
        `UPDATE cron_jobs SET owner = NULL, lease_until = NULL, run_id = NULL, last_ended_at = ?,
           state = iif(next_run_at IS NULL AND state = 'scheduled', 'finished', state)
         WHERE id = ? AND run_id = ?`,
      )
      .run(now, jobId, id);
  }
}

function newRunId(): string {
  return `run_${randomBytes(6).toString("hex")}`;
}

/** What is to be done about a job whose time has come. */
interface DuePlan {
  /** The due time to run for; undefined when all of them are too long ago. */
  readonly dueAt: number | undefined;
  /** The earliest due time that nobody ran, when there is one to tell of. */
  readonly missed: number | undefined;
  readonly nextRunAt: number | undefined;
}

interface DueRules {
  readonly now: number;
  readonly timezone: string;
  /** A due time is still run for when it is at most this long ago. */
  readonly lateMs: number;
  /** True when it was late because others took all places. */
  readonly starved: boolean;
}

/** Of several due times that have passed, the latest is run for, once. */
function planDue(row: JobRow, rules: DueRules): DuePlan {
  const { now, timezone, lateMs } = rules;
  const schedule = storedSchedule(row);
  const first = row.nextRunAt ?? now;
  const oldest = now - lateMs;
  const next = (after: number) => nextDue(schedule, { after, timezone });
  let dueAt = first >= oldest ? first : next(oldest - 1);
  if (dueAt !== undefined && dueAt > now) dueAt = undefined;
  for (let later = dueAt; later !== undefined && later <= now; later = next(later)) dueAt = later;
  const lastRun = row.repeat !== undefined && row.runs + (dueAt === undefined ? 0 : 1) >= row.repeat;
  // What came due while the job itself was running is left out without a word.
  const tells = dueAt !== first && (row.lastEndedAt === undefined || row.lastEndedAt < first);
  return {
    dueAt,
    missed: tells ? first : undefined,
    nextRunAt: lastRun ? undefined : next(Math.max(now, first)),
  };
}
