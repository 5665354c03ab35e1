import { close, closeSync, constants, fdatasync, fstatSync, fsync, open, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { DatabaseError } from "./database-error.js";
import type { Database } from "./driver.js";
import type { LogMover } from "./log-mover.js";

export type SyncFile = (fd: number) => Promise<void>;

const fdatasyncAsync: SyncFile = promisify(fdatasync);

/**
 * Makes commits durable without blocking the event loop.
 *
 * With synchronous=NORMAL a commit only reaches the page cache: it survives `kill -9`, not a power cut.
 * SQLite's own FULL would sync inside every commit, on this thread. Instead one asynchronous fdatasync of
 * the `-wal` file covers every commit made before it started. That is enough, because a committed page is
 * in the log until a checkpoint has moved it, and NORMAL syncs log and database around every checkpoint;
 * and the log keeps its inode as long as this connection is open.
 *
 * Callers that arrive while a sync runs share the next one.
 */
export class WalSync {
  readonly #db: Database;
  readonly #path: string;
  readonly #inode: number;
  readonly #syncFile: SyncFile;
  readonly #mover: LogMover | undefined;
  #fd: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #mustCheckpoint = false;

  constructor(options: {
    db: Database;
    path: string;
    syncFile?: SyncFile | undefined;
    mover?: LogMover | undefined;
  }) {
    this.#db = options.db;
    this.#path = options.path;
    this.#inode = statSync(options.path).ino;
    this.#syncFile = options.syncFile ?? fdatasyncAsync;
    this.#mover = options.mover;
  }

  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next]);
    await this.#mover?.close();
    if (this.#fd !== undefined) await promisify(close)(this.#fd);
    this.#fd = undefined;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#syncOnce();
    this.#running = running;
    const done = () => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(done, done);
    return running;
  }

  async #syncOnce(): Promise<void> {
    this.#assertStillOurs();
    if (this.#mustCheckpoint) return this.#moveLogIntoDatabase();
    try {
      if (this.#fd === undefined) {
        this.#fd = openSync(`${this.#path}-wal`, constants.O_RDWR);
        await Promise.all([this.#syncFile(this.#fd), syncFolder(dirname(this.#path))]);
      } else {
        await this.#syncFile(this.#fd);
      }
      this.#mover?.synced();
    } catch (error) {
      this.#mustCheckpoint = true;
      throw error;
    }
  }

  /**
   * After a failed sync the kernel counts the lost pages as clean, and the next fdatasync would succeed
   * without them. A checkpoint writes everything once more, to the database file, and syncs that.
   */
  #moveLogIntoDatabase(): void {
    const result = this.#db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (result?.busy !== 0) {
      throw new DatabaseError(
        "busy",
        "An earlier write failed to reach the disk and another process is reading",
      );
    }
    this.#mustCheckpoint = false;
  }

  /** Rows written to a file that somebody deleted or moved would be acknowledged and gone. */
  #assertStillOurs(): void {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    const logGone = this.#fd !== undefined && fstatSync(this.#fd).nlink === 0;
    if (now?.ino === this.#inode && !logGone) return;
    throw new Error(
      `${logGone ? `${this.#path}-wal` : this.#path} was deleted or replaced while it was in use, ` +
        "so nothing more can be kept in it. Restart this process.",
    );
  }
}

/** Makes the names of new files durable, not only their content. */
export async function syncFolder(folder: string): Promise<void> {
  const fd = await promisify(open)(folder, constants.O_RDONLY);
  try {
    await promisify(fsync)(fd);
  } finally {
    closeSync(fd);
  }
}
