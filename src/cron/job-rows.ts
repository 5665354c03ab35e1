import { crc32 } from "node:zlib";
import type { SqlRow, Statement } from "../store/driver.js";
import { isOwnerAlive } from "../store/process-owner.js";
import type { Store } from "../store/store.js";
import type { Schedule } from "./schedule.js";
import { transaction } from "./transaction.js";
import type { JobPlace, JobWork } from "./types.js";

/** What a job does, where, and under which authority; kept as one JSON document. */
export interface JobDetail extends JobWork, JobPlace {
  readonly noAgent: boolean;
  readonly deliver: string;
  readonly skills: readonly string[];
  readonly contextFrom: readonly string[];
  readonly enabledToolsets?: readonly string[] | undefined;
  /** The time zone that `nextRunAt` was worked out in. */
  readonly timezone?: string | undefined;
  /** What lies on the disk is not what was written: nobody knows what it was to do, so it does nothing. */
  readonly damaged?: true | undefined;
}

/** A job as it is written down. */
export interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly schedule: string;
  readonly kind: Schedule["kind"];
  /** Of an interval: what its periods are counted from. Of a single time: that time. */
  readonly anchorAt: number;
  readonly state: "scheduled" | "paused" | "finished";
  readonly createdAt: number;
  readonly nextRunAt: number | undefined;
  /** Set when somebody wants it to run now. */
  readonly askedAt: number | undefined;
  readonly repeat: number | undefined;
  readonly runs: number;
  readonly lastEndedAt: number | undefined;
  /** The run under way. */
  readonly runId: string | undefined;
  /** The scheduler that runs it, see `newOwnerId`. */
  readonly owner: string | undefined;
  readonly leaseUntil: number | undefined;
  readonly detail: JobDetail;
}

export type JobChange = Partial<
  Pick<
    JobRow,
    "name" | "schedule" | "kind" | "anchorAt" | "state" | "nextRunAt" | "repeat" | "runs" | "detail"
  >
>;

const COLUMNS =
  "id, name, schedule, kind, anchor_at, state, created_at, next_run_at, asked_at, repeat, runs, last_ended_at, run_id, " +
  "owner, lease_until, detail";

/** The jobs of one Hermes home. What a method has written is committed when it returns. */
export class JobRows {
  readonly #store: Store;
  readonly #byId: Statement;
  readonly #insert: Statement;

  constructor(store: Store) {
    this.#store = store;
    this.#byId = store.db.prepare(`SELECT ${COLUMNS} FROM cron_jobs WHERE id = ?`);
    this.#insert = store.db.prepare(
      `INSERT INTO cron_jobs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 0, NULL, NULL, NULL, NULL, ?)`,
    );
  }

  add(row: Omit<JobRow, "askedAt" | "runs" | "lastEndedAt" | "runId" | "owner" | "leaseUntil">): void {
    this.#insert.run(
      ...[row.id, row.name, row.schedule, row.kind, row.anchorAt, row.state, row.createdAt],
      ...[row.nextRunAt ?? null, row.repeat ?? null, sealed(row)],
    );
  }

  get(id: string): JobRow | undefined {
    const found = this.#byId.get(id);
    return found === undefined ? undefined : decodeJob(found);
  }

  list(): readonly JobRow[] {
    return this.#store.db
      .prepare(`SELECT ${COLUMNS} FROM cron_jobs ORDER BY created_at, id`)
      .all()
      .map(decodeJob);
  }

  /** Changes what is given, in one step; undefined when the job is gone. */
  change(id: string, decide: (row: JobRow) => JobChange): JobRow | undefined {
    return transaction(this.#store, () => {
      const row = this.get(id);
      if (row === undefined) return undefined;
      const next = { ...row, ...decide(row) };
      this.#store.db
        .prepare(
          `UPDATE cron_jobs SET name = ?, schedule = ?, kind = ?, anchor_at = ?, state = ?, next_run_at = ?, repeat = ?,
             runs = ?, detail = ? WHERE id = ?`,
        )
        .run(
          ...[next.name, next.schedule, next.kind, next.anchorAt, next.state, next.nextRunAt ?? null],
          ...[next.repeat ?? null, next.runs, sealed(next), id],
        );
      return next;
    });
  }

  askForRun(id: string, at: number): void {
    this.#store.db.prepare("UPDATE cron_jobs SET asked_at = ? WHERE id = ?").run(at, id);
  }

  remove(id: string): void {
    transaction(this.#store, () => {
      this.#store.db.prepare("DELETE FROM cron_jobs WHERE id = ?").run(id);
      this.#store.db.prepare("DELETE FROM cron_runs WHERE job_id = ?").run(id);
    });
  }

  /** Those whose time has come or that somebody wants to run now, and that do not run; oldest first. */
  due(now: number): readonly JobRow[] {
    return this.#store.db
      .prepare(
        `SELECT ${COLUMNS} FROM cron_jobs
         WHERE owner IS NULL AND (asked_at IS NOT NULL OR (state = 'scheduled' AND next_run_at <= ?))
         ORDER BY coalesce(asked_at, next_run_at), id`,
      )
      .all(now)
      .map(decodeJob);
  }

  /** When the next job that does not run is due, of those that were not due already at `after`. */
  nextDueAt(after = 0): number | undefined {
    const found = this.#store.db
      .prepare(
        "SELECT min(next_run_at) AS at FROM cron_jobs WHERE state = 'scheduled' AND owner IS NULL AND next_run_at > ?",
      )
      .get(after);
    return numberOf(found?.at);
  }

  running(): readonly JobRow[] {
    return this.#store.db
      .prepare(`SELECT ${COLUMNS} FROM cron_jobs WHERE owner IS NOT NULL`)
      .all()
      .map(decodeJob);
  }
}

/**
 * True when the process that runs it is gone. One on another machine, or in a container of its own, looks gone from
 * here; as long as it lives it renews its lease.
 */
export function isAbandoned(row: Pick<JobRow, "owner" | "leaseUntil">, now: number): boolean {
  return row.owner !== undefined && (row.leaseUntil ?? 0) < now && !isOwnerAlive(row.owner);
}

export function decodeJob(row: SqlRow): JobRow {
  const state = textOf(row.state);
  const kind = textOf(row.kind);
  return {
    id: textOf(row.id) ?? "",
    name: textOf(row.name) ?? "",
    schedule: textOf(row.schedule) ?? "",
    kind: kind === "interval" || kind === "cron" ? kind : "once",
    anchorAt: numberOf(row.anchor_at) ?? 0,
    state: state === "scheduled" || state === "paused" ? state : "finished",
    createdAt: numberOf(row.created_at) ?? 0,
    nextRunAt: numberOf(row.next_run_at),
    askedAt: numberOf(row.asked_at),
    repeat: numberOf(row.repeat),
    runs: numberOf(row.runs) ?? 0,
    lastEndedAt: numberOf(row.last_ended_at),
    runId: textOf(row.run_id),
    owner: textOf(row.owner),
    leaseUntil: numberOf(row.lease_until),
    detail: detailFrom(row),
  };
}

type Sealed = Pick<JobRow, "id" | "name" | "schedule" | "kind">;

/** With a checksum over what a job does and when: SQLite finds damaged pages, not a changed letter within one. */
function sealed(row: Sealed & Pick<JobRow, "detail">): string {
  const json = JSON.stringify(row.detail);
  return `${json.slice(0, -1)},"sum":${sumOf(row, json)}}`;
}

function sumOf({ id, name, schedule, kind }: Sealed, json: string): number {
  return crc32(JSON.stringify([id, name, schedule, kind, json]));
}

const SUM = /,"sum":(\d+)\}$/;

/** One that was damaged on disk is shown as a job without work, and must not keep the others from running. */
function detailFrom(row: SqlRow): JobDetail {
  const empty = { noAgent: false, deliver: "local", skills: [], contextFrom: [], workdir: "/" };
  const text = textOf(row.detail) ?? "{}";
  const json = text.replace(SUM, "}");
  const [, sum] = SUM.exec(text) ?? [];
  const column = (name: "id" | "name" | "schedule" | "kind") => textOf(row[name]) ?? "";
  const [id, name, schedule, kind] = (["id", "name", "schedule", "kind"] as const).map(column);
  try {
    const detail = { ...empty, ...(JSON.parse(json) as Partial<JobDetail>) };
    const isSound = sum === undefined || Number(sum) === sumOf({ id, name, schedule, kind } as Sealed, json);
    return isSound ? detail : { ...empty, damaged: true };
  } catch {
    return { ...empty, damaged: true };
  }
}

export function numberOf(value: SqlRow[string] | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function textOf(value: SqlRow[string] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
