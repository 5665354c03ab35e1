import type { Worker } from "node:worker_threads";
import { CHECKPOINT_THREAD } from "./checkpoint-thread.gen.js";
import type { Database } from "./driver.js";

/** About a thousand pages, as much as SQLite itself lets a log grow. */
const SYNCS_BETWEEN = 64;
/**
 * SQLite's own number of pages, and the one for a log that the thread empties. Where somebody writes without a pause, the
 * thread never finds the end of the log; then a commit does the little that is left, so that the log can begin anew.
 */
const OWN_PAGES = 1_000;
const THREAD_PAGES = 8_000;

/**
 * Empties the log of a database that is written a lot from a thread of its own. Otherwise SQLite does it inside of a
 * commit, every thousand pages, and everybody waits while it copies and syncs. A program that writes little never
 * starts the thread. When the thread fails, it is SQLite's task again. Only with the SQLite of Node itself: the package that
 * stands in for it on Node 20 takes the whole process along when its thread is ended in the middle of something.
 */
export class LogMover {
  readonly #db: Database;
  readonly #path: string;
  #syncs = 0;
  #worker: Worker | undefined;
  #isBusy = false;
  #isOver = false;

  constructor(options: { readonly db: Database; readonly path: string }) {
    this.#db = options.db;
    this.#path = options.path;
  }

  /** Called after every sync of the log. */
  synced(): void {
    if (this.#db.driver !== "node:sqlite") return;
    this.#syncs += 1;
    if (this.#syncs < SYNCS_BETWEEN || this.#isBusy || this.#isOver) return;
    this.#syncs = 0;
    this.#isBusy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage("move");
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    // Most programs that open a database start no thread.
    const threads = process.getBuiltinModule("node:worker_threads");
    const worker = new threads.Worker(CHECKPOINT_THREAD, {
      eval: true,
      workerData: { path: this.#path },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker.unref();
    worker.on("message", () => {
      this.#isBusy = false;
    });
    worker.on("error", () => undefined);
    worker.on("exit", () => this.#ended());
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${THREAD_PAGES}`);
    return worker;
  }

  #ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${OWN_PAGES}`);
  }
}
