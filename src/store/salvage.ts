import { copyFile, open, rm } from "node:fs/promises";
import { DatabaseError, explainStorageError } from "./database-error.js";
import type { Database, SqlRow, SqlValue } from "./driver.js";
import { openDatabase } from "./sqlite-driver.js";

/** What a person calls the rows of a table. Other tables are copied as well, and not worth a word. */
const WORDS: Readonly<Record<string, string>> = {
  cron_jobs: "scheduled jobs",
  cron_runs: "runs of jobs",
  approvals: "approvals and grants",
  plugin_trust: "trusted plugins",
  mcp_pins: "accepted MCP definitions",
  calls: "calls of the journal",
  file_changes: "changes that can be undone",
  processes: "background processes",
  conversations: "conversations",
  messages: "messages",
};

const PAGE = 200;
/** A damaged page holds rows next to each other: this many numbers further on may be the next sound one. */
const JUMP = 8;
const MOST_JUMPS = 2_000;

interface Copied {
  readonly table: string;
  readonly rows: number;
  /** False when some could not be read, or are no rows of this table. */
  readonly whole: boolean;
}

/**
 * Copies what can still be read of a damaged database into a new one and says what that was, and what was lost. A row
 * that contradicts the new tables is left out.
 */
export async function salvage(path: string, into: Database): Promise<string> {
  // Closing a database writes to it, and the damaged file is to stay as it was found.
  const copy = `${path}.reading`;
  let from: Database | undefined;
  try {
    await copyFile(path, copy);
    await copyFile(`${path}-wal`, `${copy}-wal`).catch(() => undefined);
    await padCutFile(copy);
    from = openDatabase(copy);
    const damaged = from;
    const copied = tablesOf(into).map((table) => copyTable(table, { from: damaged, into }));
    return report(copied);
  } catch (error) {
    const lost = tablesOf(into).flatMap((table) => WORDS[table] ?? []);
    return `Nothing could be read of it (${explainStorageError(error)}): ${lost.join(", ")} are lost.`;
  } finally {
    from?.close();
    for (const end of ["", "-wal", "-shm"]) await rm(`${copy}${end}`, { force: true });
  }
}

/** SQLite reads nothing of a file that is shorter than it says; with the missing pages empty it reads the others. */
async function padCutFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { buffer: header, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
    if (bytesRead < 32) return;
    // Section 1.3 of sqlite.org/fileformat2.html; 1 stands for a page of 65,536 bytes.
    const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const whole = pageBytes * header.readUInt32BE(28);
    const { size } = await file.stat();
    if (header.toString("latin1", 0, 6) === "SQLite" && size < whole && whole < 4 * size + MAX_PADDING)
      await file.truncate(whole);
  } finally {
    await file.close();
  }
}

const MAX_PADDING = 64 * 1024 * 1024;

function tablesOf(db: Database): readonly string[] {
  return db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    .all()
    .map(({ name }) => String(name));
}

function columnsOf(db: Database, table: string): readonly string[] {
  return db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name));
}

function copyTable(
  table: string,
  { from, into }: { readonly from: Database; readonly into: Database },
): Copied {
  const known = columnsOf(from, table);
  const columns = columnsOf(into, table).filter((column) => known.includes(column));
  // A table that came with a later version.
  if (columns.length === 0) return { table, rows: 0, whole: true };
  const insert = into.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  let [rows, leftOut] = [0, 0];
  const keep = (row: SqlRow): void => {
    const values = columns.map((column): SqlValue => row[column] ?? null);
    try {
      if (insert.run(...values).changes > 0) rows += 1;
      else leftOut += 1;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      leftOut += 1;
    }
  };
  into.exec("BEGIN IMMEDIATE");
  try {
    const reading = { from, table, columns, keep };
    const keys = keysWithoutRowid(into, table);
    const whole = keys === undefined ? readNumbered(reading) : readKeyed(reading, keys);
    into.exec("COMMIT");
    return { table, rows, whole: whole && leftOut === 0 };
  } catch (error) {
    into.exec("ROLLBACK");
    throw error;
  }
}

const LEAST_ROW_BYTES = 4;

function bytesOf(db: Database): number {
  const one = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  return one("page_count") * one("page_size");
}

interface Reading {
  readonly from: Database;
  readonly table: string;
  readonly columns: readonly string[];
  keep(row: SqlRow): void;
}

/** The columns that rows without numbers are ordered by; undefined where rows have numbers. */
function keysWithoutRowid(db: Database, table: string): string | undefined {
  const found = db.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").get(table)?.sql;
  if (!/WITHOUT ROWID/i.test(String(found))) return undefined;
  return db
    .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`)
    .all()
    .map(({ name }) => String(name))
    .join(", ");
}

/** From both ends, as far as it goes; false when something lies between that cannot be read. */
function readKeyed({ from, table, columns, keep }: Reading, keys: string): boolean {
  // Pages that lead in a circle have no end; a row takes at least so many bytes.
  const most = bytesOf(from) / LEAST_ROW_BYTES;
  const direction = (order: "ASC" | "DESC"): boolean => {
    const by = keys.replaceAll(",", ` ${order},`);
    try {
      for (let offset = 0; offset < most; offset += 1) {
        const row = from
          .prepare(
            `SELECT ${columns.join(", ")} FROM ${table} ORDER BY ${by} ${order} LIMIT 1 OFFSET ${offset}`,
          )
          .get();
        if (row === undefined) return true;
        keep(row);
      }
      return false;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return false;
    }
  };
  const whole = direction("ASC");
  if (!whole) direction("DESC");
  return whole;
}

/** In the order of their numbers, jumping over those that cannot be read; false when there were such. */
function readNumbered(reading: Reading): boolean {
  const { from, table, columns, keep } = reading;
  const page = (after: number, limit: number): readonly SqlRow[] =>
    from
      .prepare(
        `SELECT rowid AS "rowid ", ${columns.join(", ")} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${limit}`,
      )
      .all(after);
  let whole = true;
  let jumps = 0;
  for (let after = -1, limit = PAGE; jumps < MOST_JUMPS; ) {
    const { rows, isSound } = numbered(() => page(after, limit), after);
    for (const [number, row] of rows) {
      keep(row);
      after = number;
    }
    if (isSound) {
      if (rows.length === 0) return whole;
      if (limit < PAGE) limit *= 2;
      continue;
    }
    whole = false;
    // First as near to the damage as possible, then behind it.
    if (limit > 1) limit = 1;
    else {
      jumps += 1;
      after += JUMP * Math.ceil(jumps / 100);
    }
  }
  return false;
}

/** As far as their numbers grow: those of a page that is gone in parts are the same again and again, without an end. */
function numbered(
  read: () => readonly SqlRow[],
  after: number,
): { readonly rows: readonly (readonly [number, SqlRow])[]; readonly isSound: boolean } {
  const rows: (readonly [number, SqlRow])[] = [];
  try {
    for (const row of read()) {
      const number = row["rowid "];
      if (typeof number !== "number" || number <= (rows.at(-1)?.[0] ?? after))
        return { rows, isSound: false };
      rows.push([number, row]);
    }
    return { rows, isSound: true };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return { rows, isSound: false };
  }
}

function report(copied: readonly Copied[]): string {
  const told = copied.filter(({ table }) => Object.hasOwn(WORDS, table));
  const kept = told.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${rows} ${WORDS[table]}`);
  const lost = told
    .filter(({ whole }) => !whole)
    .map(({ table, rows }) => `${rows > 0 ? "some" : "all"} ${WORDS[table]}`);
  return [
    kept.length === 0 ? "Nothing was in it that could be recovered." : `Recovered: ${kept.join(", ")}.`,
    lost.length === 0 ? "Nothing is known to be lost." : `Lost: ${lost.join(", ")}.`,
  ].join(" ");
}
