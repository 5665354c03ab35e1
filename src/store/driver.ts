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
 * The few operations that the repositories need, synchronous; failures are `DatabaseError`.
 *
 * Text that was damaged on disk may not be UTF-8: queries over stored text select `CAST(column AS BLOB)`,
 * which shows the bytes as they are and keeps NUL characters.
 */
export interface Database {
  readonly driver: "node:sqlite" | "@photostructure/sqlite";
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export function textOfBlob(value: SqlValue | undefined): string {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.length).toString();
  return value === null || value === undefined ? "" : String(value);
}
