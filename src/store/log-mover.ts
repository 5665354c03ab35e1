import type { Worker } from "node:worker_threads";
import { CHECKPOINT_THREAD } from "./checkpoint-thread.gen.js";
import type { Database } from "./driver.js";
import { sqliteModule } from "./sqlite-driver.js";

/** About a thousand pages, as much as SQLite itself lets a log grow. */
const SYNCS_BETWEEN = 64;
/**
 * SQLite's own number of pages, and the one for a log that the thread empties. Where somebody writes without a pause, the
 * thread never finds the end of the log; then a commit does the little that is left, so that the log can begin anew.
 */
const OWN_PAGES = 1_000;
const THREAD_PAGES = 8_000;

/** Longer than a log takes to be moved, on any disk that can be worked with. */
const LONGEST_MOVE_MS = 5_000;

/** Where a thread is: outside of SQLite, inside, or outside for good. It begins inside, to open its database. */
const [OUTSIDE, INSIDE, OVER] = [0, 1, 2];
const threads = new Set<Int32Array>();

/** A thread that is ended inside of the package for Node 20 takes the process along: its exit code would be another one. */
function waitUntilOutside(): void {
  for (const state of threads) {
    while (Atomics.compareExchange(state, 0, OUTSIDE, OVER) === INSIDE)
      if (Atomics.wait(state, 0, INSIDE, LONGEST_MOVE_MS) === "timed-out") break;
  }
}

/**
 * Empties the log of a database that is written a lot from a thread of its own. Otherwise SQLite does it inside of a
 * commit, every thousand pages, and everybody waits while it copies and syncs. A program that writes little never
 * starts the thread. When the thread fails, it is SQLite's task again.
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
    this.#syncs += 1;
    if (this.#syncs < SYNCS_BETWEEN || this.#isBusy || this.#isOver) return;
    this.#syncs = 0;
    this.#isBusy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage("move");
  }

  async close(): Promise<void> {
    const isRunning = this.#worker !== undefined && !this.#isOver;
    this.#isOver = true;
    if (!isRunning) return;
    const gone = new Promise((resolve) => this.#worker?.once("exit", resolve));
    // Whoever waits for it here must live so long.
    this.#worker?.ref();
    this.#worker?.postMessage("end");
    await gone;
  }

  #start(): Worker {
    // Most programs that open a database start no thread.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(INSIDE);
    const worker = new Worker(CHECKPOINT_THREAD, {
      eval: true,
      workerData: { path: this.#path, sqlite: sqliteModule(this.#db.driver), state },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker.unref();
    if (threads.size === 0) process.on("exit", waitUntilOutside);
    threads.add(state);
    worker.on("message", () => {
      this.#isBusy = false;
    });
    worker.on("error", () => undefined);
    worker.on("exit", () => {
      threads.delete(state);
      if (threads.size === 0) process.off("exit", waitUntilOutside);
      this.#ended();
    });
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${THREAD_PAGES}`);
    return worker;
  }

  #ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${OWN_PAGES}`);
  }
}
