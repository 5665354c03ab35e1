import { closeSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isOpenHere } from "../base/open-databases.js";

/** How much of a database is looked through for a table: those made first lie at its beginning. */
const LOOKED_THROUGH = 1_048_576;
/** Where SQLite keeps the number that this program counts its formats with; the original leaves it at 0. */
const USER_VERSION_AT = 60;

/**
 * Whether a folder is the home of Hermes Agent (Python), whose home has the same name: its `state.db` would get our tables
 * among its own. One that this program has worked with already is not looked at further.
 */
export function isOriginalHome(home: string): boolean {
  const stateDb = join(home, "state.db");
  // Ours, as it is open; and reading it would drop the locks on it.
  if (isOpenHere(realPathOf(stateDb))) return false;
  const start = beginningOf(stateDb, USER_VERSION_AT + 4);
  if (start.length === USER_VERSION_AT + 4 && start.readUInt32BE(USER_VERSION_AT) !== 0) return false;
  if (/^_config_version\s*:/m.test(textOf(join(home, "config.yaml")))) return true;
  // What was written last may still be in the log.
  const tables = [stateDb, `${stateDb}-wal`].map((path) =>
    beginningOf(path, LOOKED_THROUGH).toString("latin1"),
  );
  const has = (table: string) =>
    tables.some((text) => new RegExp(`CREATE TABLE (?:IF NOT EXISTS )?${table}\\b`).test(text));
  return has("schema_version") && !has("calls");
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function beginningOf(path: string, length: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, 0));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
