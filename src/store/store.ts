import { existsSync, writeFileSync } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isOpenHere, noteOpen, oneOpening } from "../base/open-databases.js";
import { DatabaseError, explainStorageError } from "./database-error.js";
import {
  assertHealthy,
  assertNotEmptied,
  type DatabaseFile,
  moveAside,
  prepareDatabaseFile,
} from "./database-file.js";
import type { Database } from "./driver.js";
import { keepDamagedLog } from "./log-damage.js";
import { LogMover } from "./log-mover.js";
import {
  assertKnownFormat,
  keepBeforeMigration,
  MIGRATIONS,
  migrate,
  NewerDatabaseError,
} from "./migrations.js";
import { salvage } from "./salvage.js";
import { openDatabase } from "./sqlite-driver.js";
import { type SyncFile, WalSync } from "./wal-sync.js";

export interface Store {
  readonly db: Database;
  readonly path: string;
  /** What a person should be told about this opening, e.g. that a damaged database was moved aside. */
  readonly notices: readonly string[];
  /** A damaged database was replaced, and what could be read of it was copied: rows may be missing. */
  readonly recovered: boolean;
  /** Resolves once everything committed before the call is on the disk, not only in the page cache. */
  syncWal(): Promise<void>;
  /** Reads every page; the findings, none when the file is sound. With some, the next opening recovers what it can. */
  check(): readonly string[];
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly path: string;
  /** The tables of this file; those of the state when left out. */
  readonly migrations?: readonly string[];
  /** All of it can be made again from elsewhere: a damaged one is thrown away instead of being kept and read. */
  readonly rebuildable?: boolean;
  /** Check every page at opening, whatever the size; without it only small files are. */
  readonly checkWhole?: boolean;
  /** Replaces `fdatasync`; for tests that count syncs or make the disk fail. */
  readonly syncFile?: SyncFile;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const notices: string[] = [];
  try {
    const file = await prepareDatabaseFile(options.path);
    return await oneOpening(file.path, async () => {
      // One that is open here was looked at, and must not be read past SQLite.
      const isKnown = file.created || isOpenHere(file.path);
      const lostLog = isKnown ? undefined : await keepDamagedLog(file.path);
      if (lostLog !== undefined) notices.push(lostLog);
      const opening: Opening = { file, options, notices, recovered: false };
      const db = await openOrReplace(opening);
      if (file.wasEmptied && notices.length === 0) notices.push(`${file.path} was empty; it starts anew.`);
      // Frames behind the damage would be found, and reported, again at every start.
      if (lostLog !== undefined) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return storeAround({ db, path: file.path, options, notices, recovered: opening.recovered });
    });
  } catch (error) {
    if (error instanceof NewerDatabaseError) throw error;
    throw new Error(`The database ${options.path} cannot be used: ${explainStorageError(error)}`, {
      cause: error,
    });
  }
}

/** Left by a check that has found damage while the database was in use: the next opening looks at every page. */
function suspicionOf(path: string): string {
  return `${path}.suspect`;
}

interface Opening {
  readonly file: DatabaseFile;
  readonly options: StoreOptions;
  readonly notices: string[];
  recovered: boolean;
}

async function openOrReplace(opening: Opening): Promise<Database> {
  try {
    return await openHealthy(opening.file, opening.options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return replaceDamaged(opening);
  }
}

async function openHealthy(file: DatabaseFile, options: StoreOptions): Promise<Database> {
  await assertNotEmptied(file);
  const db = openDatabase(file.path);
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    const suspect = suspicionOf(file.path);
    const whole = options.checkWhole === true || existsSync(suspect);
    await patiently(() => assertHealthy(db, { bytes: file.bytes, whole }));
    if (whole) await rm(suspect, { force: true });
    const schema = { path: file.path, migrations: options.migrations ?? MIGRATIONS };
    await patiently(() => assertKnownFormat(db, schema));
    await patiently(() => db.exec("PRAGMA journal_mode = WAL"));
    db.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    if (options.rebuildable !== true) await patiently(() => keepBeforeMigration(db, schema));
    await patiently(() => migrate(db, schema));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Several processes may find the damage at the same time, and the second must not move the first one's new
 * database away. The lock is an SQLite lock, since the system frees it when its holder dies; removing the
 * lock file would let two holders in, so it stays.
 */
async function replaceDamaged(opening: Opening): Promise<Database> {
  const { file, options, notices } = opening;
  const lock = openDatabase(`${file.path}.repair-lock`);
  try {
    lock.exec("PRAGMA busy_timeout = 5000");
    await patiently(() => lock.exec("BEGIN EXCLUSIVE"));
    try {
      return await openHealthy(await prepareDatabaseFile(file.path), options);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const aside = await moveAside(file.path);
      await rm(suspicionOf(file.path), { force: true });
      const db = await openHealthy(await prepareDatabaseFile(file.path), options);
      if (options.rebuildable === true) {
        for (const end of ["", "-wal"]) await rm(`${aside}${end}`, { force: true });
        return db;
      }
      const outcome = await salvage(aside, db);
      const notice = `The database ${file.path} was damaged (${error.message}) and is kept as ${aside}; a new one was made. ${outcome}`;
      await writeFile(`${aside}.txt`, `${notice}\n`, { mode: 0o600 }).catch(() => undefined);
      notices.push(notice);
      opening.recovered = true;
      return db;
    }
  } finally {
    lock.close();
  }
}

function isDamage(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.kind === "corrupt";
}

/** Some steps, such as the switch to WAL, fail at once with "busy" instead of waiting for busy_timeout. */
async function patiently(step: () => void): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.kind !== "busy" || attempt === 50) throw error;
      await sleep(10 + Math.random() * 20);
    }
  }
}

/** Above this a log would slow the next opening down, which reads all of it. */
const LOG_WORTH_EMPTYING = 512 * 1024;

function storeAround(parts: {
  db: Database;
  path: string;
  options: StoreOptions;
  notices: string[];
  recovered: boolean;
}): Store {
  const { db, path, options, notices, recovered } = parts;
  const inWalMode = db.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal";
  if (!inWalMode) {
    db.exec("PRAGMA synchronous = FULL");
    notices.push(`${path} lies on a file system without shared memory; every write waits for the disk.`);
  }
  const wal = new WalSync({ db, path, syncFile: options.syncFile, mover: new LogMover({ db, path }) });
  const noteClosed = noteOpen(path);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await wal.close();
    try {
      const log = await stat(`${path}-wal`).catch(() => undefined);
      if ((log?.size ?? 0) > LOG_WORTH_EMPTYING) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
    db.close();
    noteClosed();
  };
  return {
    db,
    path,
    notices,
    recovered,
    syncWal: inWalMode ? () => wal.sync() : () => Promise.resolve(),
    check() {
      const findings = findDamage(db);
      if (findings.length > 0) writeFileSync(suspicionOf(path), findings.join("\n"), { mode: 0o600 });
      return findings;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function findDamage(db: Database): readonly string[] {
  try {
    const findings = db.prepare("PRAGMA integrity_check(20)").all();
    return findings.map((row) => String(row.integrity_check)).filter((finding) => finding !== "ok");
  } catch (error) {
    return [explainStorageError(error)];
  }
}
