import { type Deferred, deferred } from "../base/deferred.js";
import { DatabaseError, explainStorageError } from "../store/database-error.js";
import { rollback } from "../store/migrations.js";
import { newOwnerId } from "../store/process-owner.js";
import type { Store } from "../store/store.js";
import type { CallIntent, Journal, JournalEntry, JournalRow, RecentQuery } from "./journal.js";
import { Entry, neverStartedOutcome } from "./journal-entry.js";
import { journalReader } from "./journal-queries.js";
import { ResultStore } from "./result-store.js";
import { computeStats } from "./stats/compute-stats.js";
import { RollUp } from "./stats/roll-up.js";
import type { JournalStats, StatsQuery } from "./stats/stats.js";
import { type ToolMetrics, toolMetrics } from "./stats/tool-metrics.js";

export interface JournalOptions {
  /** Megabytes for the texts that calls were answered with; none are kept when false. */
  readonly resultsMb?: number | false | undefined;
  /** Megabytes for what is counted of calls, also of those whose rows are gone. */
  readonly statsMb?: number | undefined;
}

const RESULTS_MB = 64;
const STATS_MB = 64;
const MEGABYTE = 1_048_576;
/** Calls are counted this long after they came, in programs that live so long. */
const KEEP_UP_MS = 5_000;
/** While others want to write, too. */
const BETWEEN_SLICES_MS = 50;

export function openJournal(store: Store, options: JournalOptions = {}): SqliteJournal {
  return new SqliteJournal(store, options);
}

/** A call that runs this long gets a row of its own before it ends, so that a crash leaves a trace of it. */
const INTENT_DELAY_MS = 25;

/** Committed rows that nobody waits for are on the disk about this much later. */
const SYNC_DELAY_MS = 25;

/** Finished calls kept in memory while the disk refuses them; with more than this the oldest are given up. */
const MAX_UNSAVED = 10_000;

/** Of programs that end too soon to fill the room for results by themselves. */
const CALLS_BETWEEN_LOOKS = 256;

/** Entries of one turn of the event loop; one transaction pays for all of them. */
interface Group {
  readonly entries: Entry[];
  readonly committed: Deferred<void>;
}

/**
 * A commit reaches the page cache, which survives `kill -9`; a sync of the log makes it survive a power cut. Intents
 * wait for the sync, outcomes for the commit: without its outcome a call reads "unknown" after a power cut, but it is
 * there.
 */
export class SqliteJournal implements Journal {
  readonly enabled = true;
  readonly #store: Store;
  readonly #owner = newOwnerId();
  readonly #insert;
  readonly #replace;
  readonly #begin;
  readonly #end;
  readonly #read;
  readonly #results: ResultStore | undefined;
  readonly #rollUp: RollUp;
  readonly #statsBytes: number;
  #keepUpTimer: NodeJS.Timeout | undefined;
  readonly #delayed = new Set<Entry>();
  /** How many of the delayed have ended. */
  #finished = 0;
  #unsaved: Entry[] = [];
  #group: Group | undefined;
  #delayTimer: NodeJS.Timeout | undefined;
  /** Set while something committed is not on its way to the disk. */
  #syncTimer: NodeJS.Timeout | undefined;
  /** Set while the last sync failed: then everybody waits for the disk, and is told. */
  #diskRefuses = false;
  #closed = false;
  /** A program that ends after one call looks after the kept results when its call has a round number. */
  #crossedBlock = false;

  constructor(store: Store, { resultsMb = RESULTS_MB, statsMb = STATS_MB }: JournalOptions) {
    this.#store = store;
    if (resultsMb !== false) this.#results = new ResultStore(store.db, { maxBytes: resultsMb * MEGABYTE });
    this.#rollUp = new RollUp(store.db);
    this.#statsBytes = statsMb * MEGABYTE;
    this.#read = journalReader(store.db);
    // One statement for the whole group, so that it needs no BEGIN and COMMIT; `key < ?3` marks the intents,
    // which come first.
    this.#insert = store.db.prepare(
      `INSERT INTO calls (owner, written_at, running, detail)
       SELECT ?1, ?2, key < ?3, value FROM json_each(?4)`,
    );
    this.#begin = store.db.prepare("BEGIN IMMEDIATE");
    this.#end = store.db.prepare("COMMIT");
    this.#replace = store.db.prepare(
      `INSERT OR REPLACE INTO calls (seq, owner, written_at, running, detail)
       SELECT value ->> 0, ?1, ?2, 0, value -> 1 FROM json_each(?3)`,
    );
  }

  begin(intent: CallIntent): JournalEntry | Promise<JournalEntry> {
    if (this.#closed) return rejected("it is already closed");
    const entry = new Entry(intent, {
      keepsResult: this.#results !== undefined,
      onEnd: (ended, awaited) => this.#ended(ended, awaited),
    });
    if (!intent.durableBefore) {
      this.#delayed.add(entry);
      this.#delayTimer ??= setTimeout(() => this.#writeDelayed(), INTENT_DELAY_MS).unref();
      return entry;
    }
    this.#writeFinished();
    const begun = this.#beginDurably(entry);
    begun.catch(ignore);
    return begun;
  }

  recent(query: RecentQuery): readonly JournalRow[] {
    return this.#read.recent(query);
  }

  call(id: number | string): JournalRow | undefined {
    return this.#read.call(id);
  }

  result(hash: string, seq?: number): string | undefined {
    return (seq === undefined ? undefined : this.#read.shortResult(seq)) ?? this.#results?.get(hash, seq);
  }

  stats(query: StatsQuery): JournalStats {
    this.#rollUp.catchUp();
    return computeStats(this.#store.db, query);
  }

  metrics(): ToolMetrics {
    this.#rollUp.catchUp();
    return toolMetrics(this.#store.db);
  }

  keepUp(): void {
    if (this.#rollUp.slice()) this.#keepUpIn(BETWEEN_SLICES_MS);
  }

  #keepUpIn(ms: number): void {
    this.#keepUpTimer ??= setTimeout(() => {
      this.#keepUpTimer = undefined;
      if (!this.#closed) ignoreTrouble(() => this.keepUp());
    }, ms).unref();
  }

  recover(): readonly JournalRow[] {
    return this.#read.markDeadAsUnknown();
  }

  prune(days: number): number {
    while (this.#results?.trim() === true);
    // What is removed has been counted.
    this.#rollUp.catchUp();
    this.#rollUp.trim(this.#statsBytes);
    return days === 0 ? 0 : this.#read.prune(Date.now() - days * 24 * 60 * 60 * 1000);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#writeDelayed();
    await this.#commit().catch(ignore);
    if (this.#crossedBlock) {
      this.#trimResults();
      ignoreTrouble(() => this.#rollUp.slice());
    }
    if (this.#syncTimer !== undefined || this.#diskRefuses) await this.#sync().catch(ignore);
  }

  async #beginDurably(entry: Entry): Promise<JournalEntry> {
    await this.#add(entry);
    try {
      await this.#sync();
    } catch (error) {
      this.#neverStarted(entry);
      throw error;
    }
    return entry;
  }

  #ended(entry: Entry, awaited: boolean): Promise<void> {
    if (!awaited && this.#delayed.has(entry)) {
      this.#finished += 1;
      // Whoever made the call has its answer by then and is busy with it.
      setImmediate(() => entry.seal());
      return done;
    }
    this.#writeFinished();
    this.#delayed.delete(entry);
    const committed = this.#add(entry);
    return this.#diskRefuses ? committed.then(() => this.#sync()) : committed;
  }

  #writeDelayed(): void {
    clearTimeout(this.#delayTimer);
    this.#delayTimer = undefined;
    for (const entry of this.#delayed) this.#add(entry);
    this.#delayed.clear();
    this.#finished = 0;
  }

  #writeFinished(): void {
    if (this.#finished === 0) return;
    this.#finished = 0;
    for (const entry of this.#delayed) {
      if (!entry.hasEnded) continue;
      this.#delayed.delete(entry);
      this.#add(entry);
    }
  }

  /** Resolves when the entry is committed. */
  #add(entry: Entry): Promise<void> {
    const group = this.#collecting();
    if (!entry.queued) group.entries.push(entry);
    entry.queued = true;
    return group.committed.promise;
  }

  #collecting(): Group {
    if (this.#group !== undefined) return this.#group;
    this.#group = { entries: [], committed: deferred() };
    setImmediate(() => this.#commit());
    return this.#group;
  }

  /** Commits what was collected; also what an earlier group could not. */
  #commit(): Promise<void> {
    if (this.#group === undefined && this.#unsaved.length === 0) return done;
    const { entries, committed } = this.#collecting();
    this.#group = undefined;
    try {
      this.#write(entries);
      this.#syncTimer ??= setTimeout(() => this.#sync().catch(ignore), SYNC_DELAY_MS).unref();
      committed.resolve();
    } catch (error) {
      for (const entry of entries) entry.queued = false;
      const ended = entries.filter((entry) => entry.hasEnded);
      this.#unsaved = mayWorkLater(error) ? [...this.#unsaved, ...ended].slice(-MAX_UNSAVED) : [];
      committed.reject(cannotWrite(error));
    }
    return committed.promise;
  }

  async #sync(): Promise<void> {
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    try {
      await this.#store.syncWal();
      this.#diskRefuses = false;
    } catch (error) {
      this.#diskRefuses = true;
      throw cannotWrite(error);
    }
  }

  #write(entries: readonly Entry[]): void {
    const all = this.#unsaved.length === 0 ? entries : [...this.#unsaved, ...entries];
    const isNew = (entry: Entry) => entry.seq === undefined;
    const inserts = all.filter((entry) => isNew(entry) && !entry.hasEnded);
    const intents = inserts.length;
    for (const entry of all) if (isNew(entry) && entry.hasEnded) inserts.push(entry);
    const updates = all.filter((entry) => entry.seq !== undefined && entry.hasEnded);

    const { db } = this.#store;
    const keepsResults = this.#results !== undefined && all.some((entry) => entry.result !== undefined);
    const several = keepsResults || (inserts.length > 0 && updates.length > 0);
    let firstSeq = 0;
    try {
      if (several) this.#begin.run();
      if (inserts.length > 0) {
        const documents = `[${inserts.map((entry) => entry.document()).join(",")}]`;
        // The rows of one INSERT are numbered without gaps: nobody else can write in between.
        const lastSeq = this.#insert.run(this.#owner, Date.now(), intents, documents).lastInsertRowid;
        firstSeq = lastSeq - inserts.length + 1;
      }
      if (updates.length > 0) {
        const documents = `[${updates.map((entry) => `[${entry.seq},${entry.document()}]`).join(",")}]`;
        this.#replace.run(this.#owner, Date.now(), documents);
      }
      if (keepsResults) {
        for (const [index, entry] of inserts.entries()) this.#keepResult(firstSeq + index, entry);
        for (const entry of updates) this.#keepResult(entry.seq ?? 0, entry);
      }
      if (several) this.#end.run();
    } catch (error) {
      this.#results?.forget();
      if (several) rollback(db);
      throw error;
    }
    inserts.forEach((entry, index) => {
      entry.seq = firstSeq + index;
    });
    for (const entry of all) entry.queued = false;
    this.#unsaved = [];
    this.#keepUpIn(KEEP_UP_MS);
    if (!keepsResults) return;
    this.#crossedBlock ||= inserts.some(({ seq = 0 }) => seq % CALLS_BETWEEN_LOOKS === 0);
    if (this.#results?.isWorthTrimming === true) this.#trimResults();
  }

  #keepResult(seq: number, { result }: Entry): void {
    if (result !== undefined) this.#results?.keep(seq, result.hash, result.text);
  }

  /** In small pieces, each in a turn of its own. */
  #trimResults(): void {
    this.#crossedBlock = false;
    ignoreTrouble(() => {
      if (this.#results?.trim() === true && !this.#closed) setImmediate(() => this.#trimResults());
    });
  }

  /** The intent may have reached the file although not safely: without an outcome it would run forever. */
  #neverStarted(entry: Entry): void {
    if (entry.seq === undefined) return;
    entry.sealOutcome(neverStartedOutcome);
    this.#unsaved.push(entry);
  }
}

const done = Promise.resolve();

/** For what is only put off when the database is busy: it is still to be done when somebody looks again. */
function ignoreTrouble(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
  }
}

/** A refusing disk may accept the same rows later; rows that SQLite itself rejects never get better. */
function mayWorkLater(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind !== "constraint" && error.kind !== "other";
}

function cannotWrite(error: unknown): Error {
  return new Error(`The journal cannot be written: ${explainStorageError(error)}`, { cause: error });
}

function rejected(why: string): Promise<never> {
  const refusal = Promise.reject(new Error(`The journal cannot be written: ${why}.`));
  refusal.catch(ignore);
  return refusal;
}

function ignore(): void {}
