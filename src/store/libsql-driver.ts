import { createRequire } from "node:module";
import { databaseError } from "./database-error.js";
import type { Database, SqlRow, SqlValue } from "./driver.js";

/**
 * libsql cannot finalise a prepared statement: after `close()` the connection lives on until the garbage
 * collector takes its statements. Code that closes a database in order to move its file must therefore
 * have used `exec` only (see `assertHealthy`).
 */
export function openWithLibsql(path: string): Database {
  const Libsql = loadLibsql();
  const database = translated(() => new Libsql(path));
  return {
    driver: "libsql",
    exec(sql) {
      translated(() => database.exec(sql));
    },
    prepare(sql) {
      // Values always go in one array: a lone blob or null would be taken for named parameters, and libsql
      // ends the process over that.
      const statement = translated(() => database.prepare<[SqlValue[]]>(sql));
      return {
        run(...values) {
          const result = translated(() => statement.run(values));
          return { changes: Number(result.changes), lastInsertRowid: Number(result.lastInsertRowid) };
        },
        get(...values) {
          const row = translated(() => statement.get(values)) as Record<string, unknown> | undefined;
          return row === undefined ? undefined : cleanRow(row);
        },
        all: (...values) =>
          translated(() => statement.all(values)).map((row) => cleanRow(row as Record<string, unknown>)),
      };
    },
    close() {
      translated(() => database.close());
    },
  };
}

/**
 * To choose between its glibc and musl builds libsql asks Node for a whole diagnostic report, which takes
 * more than 10 ms of every start. An empty report makes it look at `ldd` instead, which takes 0.1 ms.
 */
function loadLibsql(): typeof import("libsql") {
  const { report } = process;
  const getReport = report?.getReport;
  if (report) report.getReport = () => ({ header: {}, sharedObjects: [] });
  try {
    return createRequire(import.meta.url)("libsql");
  } finally {
    if (report && getReport) report.getReport = getReport;
  }
}

/** `get` adds `_metadata` to the row, `all` gives an ArrayBuffer where `get` gives a Buffer. */
function cleanRow(row: Record<string, unknown>): SqlRow {
  delete row._metadata;
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[column] = new Uint8Array(value);
  }
  return row as SqlRow;
}

function translated<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw databaseError(resultCodeOf(error), error);
  }
}

function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("rawCode" in error && typeof error.rawCode === "number") return error.rawCode;
  // A failed open carries its code only at the end of the text.
  const atEnd = /local database .*: (\d+)/.exec(error.message)?.[1];
  return atEnd === undefined ? undefined : Number(atEnd);
}
