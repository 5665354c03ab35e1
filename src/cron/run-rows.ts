import type { SqlRow } from "../store/driver.js";
import type { Store } from "../store/store.js";
import { numberOf, textOf } from "./job-rows.js";
import type { JobRun, RunStatus } from "./types.js";

const COLUMNS = "id, job_id, due_at, asked, status, started_at, ended_at, summary, output_path";
const STATUSES: readonly string[] = ["running", "ok", "failed", "missed", "unknown", "waiting"];
/** Rows of one job; older ones are forgotten. */
const KEPT_RUNS = 200;

/** What became of the due times of all jobs of one Hermes home. */
export class RunRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws when the due time has a row already: then somebody else has taken it. */
  add(run: JobRun, owner: string): void {
    this.#store.db
      .prepare(`INSERT INTO cron_runs (${COLUMNS}, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(
        ...[run.id, run.jobId, run.dueAt, run.asked ? 1 : 0, run.status, run.startedAt ?? null],
        ...[run.endedAt ?? null, run.summary, run.outputPath ?? null, owner],
      );
  }

  has({ jobId, dueAt, asked }: Pick<JobRun, "jobId" | "dueAt" | "asked">): boolean {
    return (
      this.#store.db
        .prepare("SELECT 1 FROM cron_runs WHERE job_id = ? AND due_at = ? AND asked = ?")
        .get(jobId, dueAt, asked ? 1 : 0) !== undefined
    );
  }

  /** False when it was no longer running. */
  end(id: string, end: Pick<JobRun, "status" | "summary" | "outputPath"> & { readonly endedAt: number }) {
    return (
      this.#store.db
        .prepare(
          "UPDATE cron_runs SET status = ?, summary = ?, output_path = ?, ended_at = ? WHERE id = ? AND status = 'running'",
        )
        .run(end.status, end.summary, end.outputPath ?? null, end.endedAt, id).changes === 1
    );
  }

  /** True for whoever comes first. */
  takeUpWaiting(
    id: string,
    { owner, startedAt }: { readonly owner: string; readonly startedAt: number },
  ): boolean {
    return (
      this.#store.db
        .prepare(
          "UPDATE cron_runs SET status = 'running', owner = ?, started_at = ?, ended_at = NULL, summary = '' WHERE id = ? AND status = 'waiting'",
        )
        .run(owner, startedAt, id).changes === 1
    );
  }

  /** One that waits is enough: the agent that comes one day need not make up for every day before. */
  keepOneWaiting(jobId: string): void {
    this.#store.db
      .prepare(
        `DELETE FROM cron_runs WHERE job_id = ?1 AND status = 'waiting'
         AND seq < (SELECT max(seq) FROM cron_runs WHERE job_id = ?1 AND status = 'waiting')`,
      )
      .run(jobId);
  }

  waiting(): readonly JobRun[] {
    return this.#store.db
      .prepare(`SELECT ${COLUMNS} FROM cron_runs WHERE status = 'waiting' ORDER BY seq`)
      .all()
      .map(decodeRun);
  }

  /** Newest first. */
  of(jobId: string, limit: number): readonly JobRun[] {
    return this.#store.db
      .prepare(`SELECT ${COLUMNS} FROM cron_runs WHERE job_id = ? ORDER BY seq DESC LIMIT ?`)
      .all(jobId, limit)
      .map(decodeRun);
  }

  /** The newest run of each job. */
  latest(): ReadonlyMap<string, JobRun> {
    const rows = this.#store.db
      .prepare(
        `SELECT ${COLUMNS} FROM cron_runs WHERE seq IN (SELECT max(seq) FROM cron_runs GROUP BY job_id)`,
      )
      .all()
      .map(decodeRun);
    return new Map(rows.map((run) => [run.jobId, run]));
  }

  prune(jobId: string): void {
    this.#store.db
      .prepare(
        `DELETE FROM cron_runs WHERE job_id = ?1 AND status <> 'running' AND seq <=
           (SELECT seq FROM cron_runs WHERE job_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ${KEPT_RUNS})`,
      )
      .run(jobId);
  }
}

function decodeRun(row: SqlRow): JobRun {
  const status = textOf(row.status) ?? "";
  return {
    id: textOf(row.id) ?? "",
    jobId: textOf(row.job_id) ?? "",
    dueAt: numberOf(row.due_at) ?? 0,
    asked: row.asked === 1,
    status: STATUSES.includes(status) ? (status as RunStatus) : "unknown",
    startedAt: numberOf(row.started_at),
    endedAt: numberOf(row.ended_at),
    summary: textOf(row.summary) ?? "",
    outputPath: textOf(row.output_path),
  };
}
