import { databaseError } from "./database-error.js";
import type { Database, SqlRow, SqlValue } from "./driver.js";

interface NodeStatement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

export interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => NodeDatabase;
}

/** Undefined where this Node has no node:sqlite. */
export function loadNodeSqlite(): NodeSqlite | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === "string" ? warning : warning.message;
    if (text.startsWith("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

export function openWithNodeSqlite(sqlite: NodeSqlite, path: string): Database {
  const database = translated(() => new sqlite.DatabaseSync(path));
  return {
    driver: "node:sqlite",
    exec: (sql) => translated(() => database.exec(sql)),
    prepare(sql) {
      const statement = translated(() => database.prepare(sql));
      return {
        run(...values) {
          const result = translated(() => statement.run(...values));
          return { changes: Number(result.changes), lastInsertRowid: Number(result.lastInsertRowid) };
        },
        get: (...values) => translated(() => statement.get(...values)),
        all: (...values) => translated(() => statement.all(...values)),
      };
    },
    close: () => translated(() => database.close()),
  };
}

function translated<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
    throw databaseError(typeof code === "number" ? code : undefined, error);
  }
}
