import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errnoOf } from "../base/errno.js";
import { isRecord } from "../base/record.js";
import { DatabaseError } from "./database-error.js";
import type { Database } from "./driver.js";
import { timeForFileNames } from "./log-damage.js";
import { syncFolder } from "./wal-sync.js";

export interface DatabaseFile {
  /** Links resolved: SQLite puts the log beside the real file. */
  readonly path: string;
  readonly created: boolean;
  readonly bytes: number;
  /** Empty, and not because it was made a moment ago by this or another process. */
  readonly wasEmptied: boolean;
}

const A_MOMENT_MS = 10_000;

/** Creates folder (0700) and file (0600) where missing; SQLite gives its log the mode of the database. */
export async function prepareDatabaseFile(path: string): Promise<DatabaseFile> {
  const folder = dirname(resolve(path));
  const firstNewFolder = await mkdir(folder, { recursive: true, mode: 0o700 });
  const created = await createPrivate(path);
  const real = await realpath(path);
  if (created) {
    await syncFolder(folder);
    if (firstNewFolder !== undefined) await syncFolder(dirname(firstNewFolder));
  } else {
    await Promise.all([real, `${real}-wal`, `${real}-shm`].map(makePrivate));
  }
  const { size, mtimeMs } = await stat(real);
  const wasEmptied = !created && size === 0 && Date.now() - mtimeMs > A_MOMENT_MS;
  return { path: real, created, bytes: size, wasEmptied };
}

async function createPrivate(path: string): Promise<boolean> {
  try {
    // Only a file that did not exist is opened here: closing any descriptor of an SQLite file drops all
    // POSIX locks that this process holds on it.
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function makePrivate(path: string): Promise<void> {
  try {
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "EPERM") throw error;
  }
}

/** A database cut to nothing while its log holds data: SQLite would delete the log and call it new. */
export async function assertNotEmptied(file: DatabaseFile): Promise<void> {
  if (file.created || file.bytes > 0) return;
  const log = await stat(`${file.path}-wal`).catch(() => undefined);
  if (log !== undefined && log.size > 0) {
    throw new DatabaseError("corrupt", "The database file is empty although its log holds data.");
  }
}

/** A whole check reads every page, about 1 ms per MB; larger files are checked when somebody asks. */
const SMALL_ENOUGH_TO_CHECK = 2 * 1024 * 1024;

/**
 * Throws "corrupt" when the file is damaged. Uses only `exec`: an unfinished statement would keep the database
 * open after the caller has closed it to move the file.
 */
export function assertHealthy(db: Database, options: { bytes: number; whole: boolean }): void {
  db.exec("SELECT count(*) FROM sqlite_schema");
  raiseWhen(db, "(SELECT user_version FROM pragma_user_version) < 0", "impossible format number");
  if (!options.whole && options.bytes > SMALL_ENOUGH_TO_CHECK) return;
  raiseWhen(
    db,
    "(SELECT integrity_check FROM pragma_integrity_check LIMIT 1) <> 'ok'",
    "the pages contradict each other",
  );
}

function raiseWhen(db: Database, condition: string, meaning: string): void {
  try {
    db.exec(`SELECT CASE WHEN ${condition} THEN json('damaged') END`);
  } catch (error) {
    if (error instanceof DatabaseError && /malformed JSON/i.test(error.message)) {
      throw new DatabaseError("corrupt", `The database file is damaged: ${meaning}.`, error);
    }
    if (endsTooEarly(error)) throw new DatabaseError("corrupt", "The database file ends too early.", error);
    throw error;
  }
}

/** A page that should be there is not; a disk that fails has a code of its own (266 and others). */
function endsTooEarly(error: unknown): boolean {
  const code = error instanceof DatabaseError && isRecord(error.cause) ? error.cause.errcode : undefined;
  return code === SQLITE_IOERR || code === SQLITE_IOERR_SHORT_READ;
}

const SQLITE_IOERR = 10;
const SQLITE_IOERR_SHORT_READ = 522;

/** Keeps the damaged file and its log for a person to look at; returns the new name. */
export async function moveAside(path: string): Promise<string> {
  let aside = `${path}.corrupt-${timeForFileNames()}`;
  if ((await stat(aside).catch(() => undefined)) !== undefined) aside += `-${randomBytes(3).toString("hex")}`;
  await rename(path, aside);
  await rename(`${path}-wal`, `${aside}-wal`).catch(() => undefined);
  await rm(`${path}-shm`, { force: true });
  return aside;
}
