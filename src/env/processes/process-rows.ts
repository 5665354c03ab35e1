import type { SqlRow, Statement } from "../../store/driver.js";
import { isOwnerAlive } from "../../store/process-owner.js";
import type { Store } from "../../store/store.js";
import type { ProcessStatus } from "./types.js";

/** A process as it is written down. */
export interface ProcessRow {
  readonly id: string;
  readonly session: string;
  readonly command: string;
  readonly cwd: string;
  readonly environment: string;
  /** Which kind of environment; only local processes can be seen from here. */
  readonly kind: string;
  readonly pid: number | undefined;
  /** When that pid was started, see `startOfProcess`. */
  readonly pidStart: string | undefined;
  readonly mark: string;
  readonly pty: boolean;
  /** The runtime that follows it, see `newOwnerId`. */
  readonly owner: string;
  readonly status: ProcessStatus;
  readonly exitCode: number | undefined;
  readonly lost: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly handedOff: boolean;
}

export type RowEnd = Pick<ProcessRow, "status" | "exitCode" | "lost"> & { readonly endedAt: number };

/** The exit code of what was ended on request. */
export const KILLED = -15;
/** Receipts of finished processes. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const COLUMNS =
  "id, session, command, cwd, environment, kind, pid, pid_start, mark, pty, owner, status, exit_code, lost, " +
  "started_at, ended_at, handed_off";

/**
 * The background processes of every runtime of one Hermes home. A row is committed when a method returns, so
 * it survives the runtime's sudden death; a power cut ends the processes as well.
 */
export class ProcessRows {
  readonly #store: Store;
  readonly #insert: Statement;
  readonly #end: Statement;

  constructor(store: Store) {
    this.#store = store;
    const { db } = store;
    this.#insert = db.prepare(
      `INSERT INTO processes (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#end = db.prepare(
      `UPDATE processes SET status = ?, exit_code = iif(kill_asked_at IS NULL, ?, ${KILLED}), lost = ?, ended_at = ?
       WHERE id = ? AND status = 'running'`,
    );
  }

  add(row: ProcessRow): void {
    this.#insert.run(
      ...[row.id, row.session, row.command, row.cwd, row.environment, row.kind, row.pid ?? null],
      ...[row.pidStart ?? null, row.mark, row.pty ? 1 : 0, row.owner, row.status, row.exitCode ?? null],
      ...[row.lost ?? null, row.startedAt, row.endedAt ?? null, row.handedOff ? 1 : 0],
    );
  }

  /** False when somebody has written its end before. */
  end(id: string, { status, exitCode, lost, endedAt }: RowEnd): boolean {
    return this.#end.run(status, exitCode ?? null, lost ?? null, endedAt, id).changes === 1;
  }

  handOff(id: string, { session, handedOff }: Pick<ProcessRow, "session" | "handedOff">): void {
    this.#store.db
      .prepare("UPDATE processes SET session = ?, handed_off = ? WHERE id = ?")
      .run(session, handedOff ? 1 : 0, id);
  }

  /** Newest first; only those that run, unless all are wanted. */
  list({ all }: { readonly all: boolean }): readonly ProcessRow[] {
    const running = all ? "" : "WHERE status = 'running'";
    return this.#store.db
      .prepare(`SELECT ${COLUMNS} FROM processes ${running} ORDER BY started_at DESC, id LIMIT 10000`)
      .all()
      .map(decode);
  }

  /** Those that carry this id, or whose id begins so. */
  matching(id: string): readonly ProcessRow[] {
    const rows = this.#store.db
      .prepare(
        `SELECT ${COLUMNS} FROM processes WHERE substr(id, 1, ?1) = ?2 ORDER BY started_at DESC LIMIT 20`,
      )
      .all(id.length, id)
      .map(decode);
    const exact = rows.find((row) => row.id === id);
    return exact === undefined ? rows : [exact];
  }

  /** Rows that are said to run although the runtime that followed them is gone. */
  abandoned(): readonly ProcessRow[] {
    return this.list({ all: false }).filter((row) => !isOwnerAlive(row.owner));
  }

  /** Asks the runtime that follows it to end it. */
  askToEnd(id: string, at: number): void {
    this.#store.db.prepare("UPDATE processes SET kill_asked_at = ? WHERE id = ?").run(at, id);
  }

  askedToEnd(owner: string): readonly string[] {
    return this.#store.db
      .prepare(
        "SELECT id FROM processes WHERE owner = ? AND status = 'running' AND kill_asked_at IS NOT NULL",
      )
      .all(owner)
      .map((row) => String(row.id));
  }

  /** Forgets what ended long ago; answers with the ids. */
  prune(now: number): readonly string[] {
    return this.#store.db
      .prepare("DELETE FROM processes WHERE status <> 'running' AND ended_at < ? RETURNING id")
      .all(now - KEPT_MS)
      .map((row) => String(row.id));
  }
}

function decode(row: SqlRow): ProcessRow {
  const number = (value: SqlRow[string] | undefined) => (typeof value === "number" ? value : undefined);
  const text = (value: SqlRow[string] | undefined) => (typeof value === "string" ? value : undefined);
  const status = text(row.status);
  return {
    id: text(row.id) ?? "",
    session: text(row.session) ?? "",
    command: text(row.command) ?? "",
    cwd: text(row.cwd) ?? "",
    environment: text(row.environment) ?? "",
    kind: text(row.kind) ?? "",
    pid: number(row.pid),
    pidStart: text(row.pid_start),
    mark: text(row.mark) ?? "",
    pty: row.pty === 1,
    owner: text(row.owner) ?? "",
    status: status === "running" || status === "exited" ? status : "lost",
    exitCode: number(row.exit_code),
    lost: text(row.lost),
    startedAt: number(row.started_at) ?? 0,
    endedAt: number(row.ended_at),
    handedOff: row.handed_off === 1,
  };
}
