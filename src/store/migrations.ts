import { randomBytes } from "node:crypto";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { failure, HermesError } from "../tool/errors.js";
import { VERSION } from "../version.js";
import { DatabaseError } from "./database-error.js";
import type { Database } from "./driver.js";
import { openDatabase } from "./sqlite-driver.js";

/**
 * Migration n brings a database from `user_version` n to n + 1. Released entries never change; new ones are
 * appended.
 *
 * A call is one JSON document and not twenty columns: taking columns out of a JSON batch costs SQLite four
 * times as much as storing its elements, and a call is written far more often than it is read. `call_rows`
 * is the same table with columns, for people.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS calls (
    seq INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    running INTEGER NOT NULL,
    detail TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS calls_written_at ON calls (written_at);
  CREATE INDEX IF NOT EXISTS calls_running ON calls (owner) WHERE running = 1;
  CREATE VIEW IF NOT EXISTS call_rows AS
    SELECT
      seq,
      detail ->> '$.call_id' AS call_id,
      detail ->> '$.session_id' AS session_id,
      detail ->> '$.tool' AS tool,
      detail ->> '$.called_as' AS called_as,
      detail ->> '$.door' AS door,
      coalesce(detail ->> '$.outcome.status', iif(running, 'running', 'unknown')) AS status,
      datetime((detail ->> '$.started_at') / 1000, 'unixepoch') AS started_at,
      detail ->> '$.outcome.duration_ms' AS duration_ms,
      detail ->> '$.outcome.result_chars' AS result_chars,
      detail ->> '$.outcome.error_code' AS error_code,
      detail ->> '$.outcome.error_message' AS error_message,
      detail ->> '$.decision' AS decision,
      detail ->> '$.rule' AS rule,
      detail ->> '$.environment' AS environment,
      detail ->> '$.effects' AS effects,
      detail ->> '$.args' AS args,
      owner
    FROM calls;
  `,
  // `call` holds the arguments as they would run, secrets included, and is emptied when the question is settled;
  // its digest stays, so that the signature can still be checked.
  `
  CREATE TABLE IF NOT EXISTS approvals (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    tool TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    audience TEXT,
    shown TEXT NOT NULL,
    call TEXT,
    call_digest TEXT NOT NULL,
    signature TEXT NOT NULL,
    answer TEXT,
    answer_signature TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS approvals_open ON approvals (expires_at) WHERE status IN ('pending', 'approved');
  `,
  // Pid, its start and the mark together name a process tree: what a crash left can be ended without mistaking
  // a stranger for it. The owner names the runtime that follows it.
  `
  CREATE TABLE IF NOT EXISTS processes (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    environment TEXT NOT NULL,
    kind TEXT NOT NULL,
    pid INTEGER,
    pid_start TEXT,
    mark TEXT NOT NULL,
    pty INTEGER NOT NULL,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    exit_code INTEGER,
    lost TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    handed_off INTEGER NOT NULL,
    kill_asked_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS processes_running ON processes (owner) WHERE status = 'running';
  `,
  // What files held before calls changed them; the bytes themselves lie beside the database, by their digest.
  `
  CREATE TABLE IF NOT EXISTS file_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    call_id TEXT NOT NULL,
    inside TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    at INTEGER NOT NULL,
    environment TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    target TEXT,
    before TEXT,
    before_mode INTEGER,
    before_bytes INTEGER,
    after TEXT,
    existed INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    undone_at INTEGER
  );
  CREATE INDEX IF NOT EXISTS file_changes_call ON file_changes (call_id);
  CREATE INDEX IF NOT EXISTS file_changes_before ON file_changes (before);
  `,
  // `detail` says what the job does and under which authority. A job is claimed by setting its owner while there is
  // none, which also moves next_run_at on: each due time has one claimer, and one row in cron_runs.
  `
  CREATE TABLE IF NOT EXISTS cron_jobs (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    schedule TEXT NOT NULL,
    kind TEXT NOT NULL,
    anchor_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    next_run_at INTEGER,
    asked_at INTEGER,
    repeat INTEGER,
    runs INTEGER NOT NULL,
    last_ended_at INTEGER,
    run_id TEXT,
    owner TEXT,
    lease_until INTEGER,
    detail TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS cron_jobs_due ON cron_jobs (next_run_at) WHERE state = 'scheduled';
  CREATE TABLE IF NOT EXISTS cron_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    status TEXT NOT NULL,
    owner TEXT,
    started_at INTEGER,
    ended_at INTEGER,
    summary TEXT NOT NULL,
    output_path TEXT,
    UNIQUE (job_id, due_at, asked)
  );
  CREATE TABLE IF NOT EXISTS cron_schedulers (
    owner TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  // A person's yes to the files of a plugin folder, by the hash over all of them; dev: to its changes as
  // well; guards: no call may run without it.
  `
  CREATE TABLE IF NOT EXISTS plugin_trust (
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dev INTEGER NOT NULL,
    guards INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (name, folder)
  ) WITHOUT ROWID;
  `,
  `
  CREATE TABLE IF NOT EXISTS mcp_pins (
    server TEXT NOT NULL,
    identity TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    definition TEXT NOT NULL,
    present INTEGER NOT NULL,
    pinned_at INTEGER NOT NULL,
    PRIMARY KEY (server, identity, tool)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS mcp_memory (
    server TEXT NOT NULL,
    identity TEXT NOT NULL,
    era TEXT,
    discover TEXT,
    era_at INTEGER NOT NULL,
    resources INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    PRIMARY KEY (server, identity)
  ) WITHOUT ROWID;
  `,
  // What calls were answered with, by number and hash; as bytes, since a bound text ends at its first NUL. The text comes
  // last: counting and looking for a hash need not read it.
  `
  CREATE TABLE IF NOT EXISTS call_results (
    seq INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    text BLOB NOT NULL
  );
  `,
  // Calls as they are counted (src/call/stats): they outlive the rows they came from. `dense` and `rare` hold the columns
  // of many calls, `stats_open` those that were running when the cursor passed.
  `
  CREATE TABLE IF NOT EXISTS stats_cursor (only INTEGER PRIMARY KEY CHECK (only = 1), seq INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS stats_open (seq INTEGER PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS stats_names (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    text BLOB NOT NULL,
    UNIQUE (kind, text)
  );
  CREATE TABLE IF NOT EXISTS stats_pieces (
    id INTEGER PRIMARY KEY,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    rare BLOB NOT NULL,
    dense BLOB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS stats_errors (
    tool TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    message BLOB NOT NULL
  ) WITHOUT ROWID;
  `,
  "ALTER TABLE file_changes ADD COLUMN conversations TEXT NOT NULL DEFAULT ''",
];

/** The database was written by a later release; opening it could lose what that release stored. */
export class NewerDatabaseError extends HermesError {
  constructor(found: { readonly path: string; readonly format: number; readonly known: number }) {
    const { path, format, known } = found;
    const older = formatCopy(path, known);
    const copy = existsSync(older)
      ? `, or put ${older} (from before it was changed) in its place without the ${basename(path)}-wal beside it`
      : "";
    super(
      failure(
        "unavailable",
        `${path} has format ${format}, this version of hermes-tools (${VERSION}) knows formats up to ${known}: it was written by a newer version`,
        `Update hermes-tools, restore a backup (\`hermes restore FILE\`)${copy}, or point HERMES_HOME to another folder. Nothing was changed.`,
      ),
    );
    this.name = "NewerDatabaseError";
  }
}

/** Where a database is kept as it was before it left this format. */
function formatCopy(path: string, format: number): string {
  return `${path}.format-${format}`;
}

/** Before anything else is asked of the database: the switch to another journal already changes it. */
export function assertKnownFormat(
  db: Database,
  { path, migrations }: { readonly path: string; readonly migrations: readonly string[] },
): void {
  readVersion(db, { path, known: migrations.length });
}

/**
 * Keeps the database as it is when newer tables are waiting for it; returns where. The copy is whole or not there, and a
 * database that cannot be copied is not changed either.
 */
export function keepBeforeMigration(
  db: Database,
  { path, migrations }: { readonly path: string; readonly migrations: readonly string[] },
): string | undefined {
  const format = readVersion(db, { path, known: migrations.length });
  if (format === 0 || format === migrations.length) return undefined;
  const copy = formatCopy(path, format);
  const draft = `${copy}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    // Made before SQLite fills it, since that would ask the umask who may read it.
    writeFileSync(draft, "", { mode: 0o600 });
    db.exec(`VACUUM INTO '${draft.replaceAll("'", "''")}'`);
    // Another process may have brought it forward meanwhile, and has then kept it before.
    if (formatOf(draft) === format) renameSync(draft, copy);
  } finally {
    rmSync(draft, { force: true });
  }
  return copy;
}

/** Safe when several processes open at once: each step takes the write lock and looks again. */
export function migrate(
  db: Database,
  { path, migrations }: { readonly path: string; readonly migrations: readonly string[] },
): void {
  const known = migrations.length;
  while (readVersion(db, { path, known }) < known) {
    db.exec("BEGIN IMMEDIATE");
    try {
      const version = readVersion(db, { path, known });
      const migration = migrations[version];
      if (migration !== undefined) {
        db.exec(migration);
        db.exec(`PRAGMA user_version = ${version + 1}`);
      }
      db.exec("COMMIT");
    } catch (error) {
      rollback(db);
      throw error;
    }
  }
}

/** The number of the migrations that a database file has seen. */
export function formatOf(path: string): number {
  const db = openDatabase(path);
  try {
    return Number(db.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    db.close();
  }
}

function readVersion(
  db: Database,
  { path, known }: { readonly path: string; readonly known: number },
): number {
  const found = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  if (!Number.isInteger(found) || found < 0) {
    throw new DatabaseError("corrupt", `The database has the impossible format number ${found}.`);
  }
  if (found > known) throw new NewerDatabaseError({ path, format: found, known });
  return found;
}

/** SQLite has already rolled back by itself after some errors; then there is nothing left to undo. */
export function rollback(db: Database): void {
  try {
    db.exec("ROLLBACK");
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
  }
}
