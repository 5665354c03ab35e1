import { createRequire } from "node:module";
import { databaseError } from "./database-error.js";
import type { Database, SqlRow, SqlValue } from "./driver.js";

interface SqliteStatement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface Sqlite {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/**
 * node:sqlite where this Node has it without a flag (22.13 and later). Elsewhere the package that brings the
 * same interface to older versions, prebuilt.
 */
function loadSqlite(): { readonly sqlite: Sqlite; readonly driver: Database["driver"] } {
  const builtin = builtinSqlite();
  if (builtin !== undefined) return { sqlite: builtin, driver: "node:sqlite" };
  return {
    sqlite: createRequire(import.meta.url)("@photostructure/sqlite") as Sqlite,
    driver: "@photostructure/sqlite",
  };
}

function builtinSqlite(): Sqlite | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === "string" ? warning : warning.message;
    if (text.startsWith("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite") as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What a thread that shares nothing with this module has to load. */
export function sqliteModule(driver: Database["driver"]): string {
  return driver === "node:sqlite" ? driver : createRequire(import.meta.url).resolve(driver);
}

export function openDatabase(path: string): Database {
  const { sqlite, driver } = loadSqlite();
  const database = translated(() => new sqlite.DatabaseSync(path));
  return {
    driver,
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
