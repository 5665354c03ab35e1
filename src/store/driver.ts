export type SqlValue = string | number | null | Uint8Array;

export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

export interface Statement {
  run(...values: SqlValue[]): RunResult;
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): readonly SqlRow[];
}

/**
 * The few operations that the repositories need. Both drivers are synchronous and throw `DatabaseError`.
 *
 * Text that was damaged on disk may not be UTF-8, and libsql ends the process when it meets such a text:
 * queries over stored text must select `CAST(column AS BLOB)`, which also keeps NUL characters.
 */
export interface Database {
  readonly driver: "libsql" | "node:sqlite";
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** node:sqlite where this Node has it without a flag (22.13 and later), libsql elsewhere. */
export async function openDatabase(path: string): Promise<Database> {
  const { loadNodeSqlite, openWithNodeSqlite } = await import("./node-driver.js");
  const nodeSqlite = loadNodeSqlite();
  if (nodeSqlite) return openWithNodeSqlite(nodeSqlite, path);
  const { openWithLibsql } = await import("./libsql-driver.js");
  return openWithLibsql(path);
}

export function textOfBlob(value: SqlValue | undefined): string {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.length).toString();
  return value === null || value === undefined ? "" : String(value);
}
