import { DatabaseError } from "../store/database-error.js";
import type { Database } from "../store/driver.js";
import type { JournalReader } from "./journal-queries.js";
import type { ResultStore } from "./result-store.js";
import { RollUp } from "./stats/roll-up.js";

/** Calls are counted this long after they came, in programs that live so long. */
const KEEP_UP_MS = 5_000;
/** While others want to write, too. */
const BETWEEN_SLICES_MS = 50;
/** In programs that live so long, rows that are too old leave about this often. */
const BETWEEN_PRUNES_MS = 60 * 60 * 1000;
/** Rows that leave in one go, so that nobody waits long for the database. */
const LEAVING = 500;
/** Programs that end too soon for all that do a piece of it when their call has a round number: less than leaves then. */
const CALLS_BETWEEN_LOOKS = 256;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface UpkeepOptions {
  readonly read: JournalReader;
  readonly results: ResultStore | undefined;
  /** Room for what is counted. */
  readonly statsBytes: number;
  /** 0 keeps rows for ever. */
  readonly retentionDays: number;
}

/** Keeps the journal counted and bounded, in small pieces beside the calls, in whatever program writes it. */
export class JournalUpkeep {
  readonly #rollUp: RollUp;
  readonly #options: UpkeepOptions;
  #timer: NodeJS.Timeout | undefined;
  #nextPrune = 0;
  #crossedBlock = false;
  #closed = false;

  constructor(db: Database, options: UpkeepOptions) {
    this.#rollUp = new RollUp(db);
    this.#options = options;
  }

  /** So many rows were added, the last of them with this number. */
  wrote(added: number, lastSeq: number): void {
    this.#continueIn(KEEP_UP_MS);
    this.#crossedBlock ||= added > 0 && lastSeq % CALLS_BETWEEN_LOOKS < added;
    if (this.#options.results?.isWorthTrimming === true) this.#trimResults();
  }

  catchUp(): void {
    this.#rollUp.catchUp();
  }

  /** A little of what is to be done; the rest follows by itself. */
  keepUp(): void {
    if (this.#rollUp.slice() || this.#pruneSome()) this.#continueIn(BETWEEN_SLICES_MS);
  }

  /** All at once; how many rows have left. */
  prune(days: number): number {
    const { results, read, statsBytes } = this.#options;
    while (results?.trim() === true);
    // What is removed has been counted.
    this.#rollUp.catchUp();
    this.#rollUp.trim(statsBytes);
    return days === 0 ? 0 : read.prune({ writtenBeforeMs: Date.now() - days * DAY_MS });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (!this.#crossedBlock) return;
    this.#trimResults();
    ignoreTrouble(() => {
      this.#rollUp.slice();
      this.#pruneSome();
    });
  }

  #continueIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!this.#closed) ignoreTrouble(() => this.keepUp());
    }, ms).unref();
  }

  /** Some of the rows that are too old, when it is time to look; true when there are more. */
  #pruneSome(): boolean {
    const { read, retentionDays, statsBytes } = this.#options;
    const now = Date.now();
    if (now < this.#nextPrune) return false;
    const gone =
      retentionDays === 0
        ? 0
        : read.prune({ writtenBeforeMs: now - retentionDays * DAY_MS, onlyCounted: true, most: LEAVING });
    if (gone === LEAVING) return true;
    this.#rollUp.trim(statsBytes);
    this.#nextPrune = now + BETWEEN_PRUNES_MS;
    return false;
  }

  /** In small pieces, each in a turn of its own. */
  #trimResults(): void {
    this.#crossedBlock = false;
    ignoreTrouble(() => {
      if (this.#options.results?.trim() === true && !this.#closed) setImmediate(() => this.#trimResults());
    });
  }
}

/** For what is only put off when the database is busy: it is still to be done when somebody looks again. */
function ignoreTrouble(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
  }
}
