import type { SqlRow, SqlValue, Statement } from "../../store/driver.js";
import { textOfBlob } from "../../store/driver.js";
import type { Store } from "../../store/store.js";

/** One change of one file, as it is written down. */
export interface ChangeRow {
  readonly seq: number;
  readonly callId: string;
  /** Calls it was made from, outermost first, each as `session/call`. */
  readonly inside: readonly string[];
  /** The outermost session. */
  readonly session: string;
  /** Conversations it was made in, outermost first; none where a program or a person made the call. */
  readonly conversations: readonly string[];
  readonly tool: string;
  readonly at: number;
  readonly environment: string;
  readonly kind: "write" | "remove" | "rename";
  readonly path: string;
  /** Where a renamed one went. */
  readonly target: string | undefined;
  /** Name of what was kept of it; undefined when nothing was there, or when it was not kept. */
  readonly before: string | undefined;
  readonly beforeMode: number | undefined;
  readonly beforeBytes: number | undefined;
  /** SHA-256 of what the call left at the path (or at the target); undefined when nothing, or `UNKNOWN`. */
  readonly after: string | undefined;
  readonly existed: boolean;
  /** False when the old content was too large or could not be read. */
  readonly kept: boolean;
  readonly undoneAt: number | undefined;
}

/** Stands for a digest that could not be made; no file has it. */
export const UNKNOWN = "unknown";

export interface ChangeQuery {
  /** A call, with the calls made from inside it. */
  readonly call?: string;
  readonly session?: string;
  /** With what was begun from it. */
  readonly conversation?: string;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly limit?: number;
  /** Also those that were undone. */
  readonly all?: boolean;
}

const TEXTS = ["call_id", "inside", "session", "conversations", "tool", "environment", "path", "target"];
const COLUMNS =
  "call_id, inside, session, conversations, tool, at, environment, kind, path, target, before, before_mode, before_bytes, after, existed, kept";

/** What a row keeps on the disk. */
const KEPT_BYTES = "iif(before IS NULL, 0, coalesce(before_bytes, 0))";

/** The table of changes of one Hermes home, shared by all processes that use it. */
export class ChangeRows {
  readonly #store: Store;
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #undone: Statement;
  readonly #uses: Statement;

  constructor(store: Store) {
    this.#store = store;
    const { db } = store;
    this.#insert = db.prepare(
      `INSERT INTO file_changes (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = db.prepare("DELETE FROM file_changes WHERE seq = ?");
    this.#undone = db.prepare("UPDATE file_changes SET undone_at = ? WHERE seq = ?");
    this.#uses = db.prepare("SELECT 1 FROM file_changes WHERE before = ? LIMIT 1");
  }

  add(row: Omit<ChangeRow, "seq" | "undoneAt">): number {
    return this.#insert.run(
      row.callId,
      row.inside.join("\n"),
      row.session,
      row.conversations.join("\n"),
      row.tool,
      row.at,
      row.environment,
      row.kind,
      row.path,
      row.target ?? null,
      row.before ?? null,
      row.beforeMode ?? null,
      row.beforeBytes ?? null,
      row.after ?? null,
      Number(row.existed),
      Number(row.kept),
    ).lastInsertRowid;
  }

  forget(seq: number): void {
    this.#delete.run(seq);
  }

  markUndone(seq: number): void {
    this.#undone.run(Date.now(), seq);
  }

  uses(name: string): boolean {
    return this.#uses.get(name) !== undefined;
  }

  /** Newest first: the order in which changes are taken back. */
  find(query: ChangeQuery): readonly ChangeRow[] {
    const conditions: string[] = query.all === true ? [] : ["undone_at IS NULL"];
    const values: SqlValue[] = [];
    const where = (condition: string, ...given: readonly SqlValue[]) => {
      conditions.push(condition);
      values.push(...given);
    };
    if (query.call !== undefined) {
      where(
        "(call_id = ? OR instr(char(10) || inside || char(10), '/' || ? || char(10)) > 0)",
        query.call,
        query.call,
      );
    }
    if (query.session !== undefined) where("session = ?", query.session);
    if (query.conversation !== undefined) {
      where(
        "instr(char(10) || conversations || char(10), char(10) || ? || char(10)) > 0",
        query.conversation,
      );
    }
    if (query.since !== undefined) where("at >= ?", query.since);
    const columns = `seq, ${COLUMNS}, undone_at`
      .split(", ")
      .map((name) => (TEXTS.includes(name) ? `CAST(${name} AS BLOB) AS ${name}` : name));
    const filter = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const rows = this.#store.db
      .prepare(`SELECT ${columns.join(", ")} FROM file_changes ${filter} ORDER BY seq DESC LIMIT ?`)
      .all(...values, query.limit ?? 10_000);
    return rows.map(rowOf);
  }

  /** The bytes that are kept. */
  keptBytes(): number {
    return Number(
      this.#store.db.prepare(`SELECT sum(${KEPT_BYTES}) AS bytes FROM file_changes`).get()?.bytes ?? 0,
    );
  }

  /** Removes what is too old, and the oldest as long as the kept bytes take too much room; answers their names. */
  prune(limits: { readonly since: number; readonly maxTotalBytes: number }): readonly string[] {
    const { db } = this.#store;
    const old = db.prepare("DELETE FROM file_changes WHERE at < ? RETURNING before").all(limits.since);
    const oldest = db
      .prepare(
        `DELETE FROM file_changes WHERE seq IN (
           SELECT seq FROM (SELECT seq, sum(${KEPT_BYTES}) OVER (ORDER BY seq DESC) AS total
             FROM file_changes) WHERE total > ?) RETURNING before`,
      )
      .all(limits.maxTotalBytes);
    return [...old, ...oldest].flatMap(({ before }) => (typeof before === "string" ? [before] : []));
  }
}

function rowOf(row: SqlRow): ChangeRow {
  const text = (name: string) => textOfBlob(row[name]);
  const lines = (name: string) =>
    text(name)
      .split("\n")
      .filter((line) => line !== "");
  const optional = (name: string) => (row[name] === null ? undefined : text(name));
  const number = (name: string) => (typeof row[name] === "number" ? row[name] : undefined);
  return {
    seq: Number(row.seq),
    callId: text("call_id"),
    inside: lines("inside"),
    session: text("session"),
    conversations: lines("conversations"),
    tool: text("tool"),
    at: Number(row.at),
    environment: text("environment"),
    kind: row.kind as ChangeRow["kind"],
    path: text("path"),
    target: optional("target"),
    before: optional("before"),
    beforeMode: number("before_mode"),
    beforeBytes: number("before_bytes"),
    after: optional("after"),
    existed: row.existed === 1,
    kept: row.kept === 1,
    undoneAt: number("undone_at"),
  };
}
