import { type Deferred, deferred } from "../base/deferred.js";
import { DatabaseError, explainStorageError } from "../store/database-error.js";
import type { Store } from "../store/store.js";
import type { CallIntent, CallWithin, Journal, JournalEntry, JournalRow, RecentQuery } from "./journal.js";
import { Entry, neverStartedOutcome } from "./journal-entry.js";
import { journalReader } from "./journal-queries.js";
import { JournalUpkeep } from "./journal-upkeep.js";
import { EntryWriter } from "./journal-writer.js";
import { ResultStore } from "./result-store.js";
import { computeStats } from "./stats/compute-stats.js";
import type { JournalStats, StatsQuery } from "./stats/stats.js";
import { type ToolMetrics, toolMetrics } from "./stats/tool-metrics.js";

export interface JournalOptions {
  /** Megabytes for the texts that calls were answered with; none are kept when false. */
  readonly resultsMb?: number | false | undefined;
  /** Megabytes for what is counted of calls, also of those whose rows are gone. */
  readonly statsMb?: number | undefined;
  /** Days a row is kept; for ever when 0 or left out. */
  readonly retentionDays?: number | undefined;
}

const RESULTS_MB = 64;
const STATS_MB = 64;
const MEGABYTE = 1_048_576;

export function openJournal(store: Store, options: JournalOptions = {}): SqliteJournal {
  return new SqliteJournal(store, options);
}

/** A call that runs this long gets a row of its own before it ends, so that a crash leaves a trace of it. */
const INTENT_DELAY_MS = 25;

/** Committed rows that nobody waits for are on the disk about this much later. */
const SYNC_DELAY_MS = 25;

/** Finished calls kept in memory while the disk refuses them; with more than this the oldest are given up. */
const MAX_UNSAVED = 10_000;

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
  readonly #writer: EntryWriter;
  readonly #read;
  readonly #results: ResultStore | undefined;
  readonly #upkeep: JournalUpkeep;
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

  constructor(store: Store, options: JournalOptions) {
    const { resultsMb = RESULTS_MB, statsMb = STATS_MB, retentionDays = 0 } = options;
    this.#store = store;
    if (resultsMb !== false) this.#results = new ResultStore(store.db, { maxBytes: resultsMb * MEGABYTE });
    this.#read = journalReader(store.db);
    this.#upkeep = new JournalUpkeep(store.db, {
      read: this.#read,
      results: this.#results,
      statsBytes: statsMb * MEGABYTE,
      retentionDays,
    });
    this.#writer = new EntryWriter(store.db, this.#results);
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

  call(id: number | string, within?: CallWithin): JournalRow | undefined {
    return this.#read.call(id, within);
  }

  result(hash: string, seq?: number): string | undefined {
    return (seq === undefined ? undefined : this.#read.shortResult(seq)) ?? this.#results?.get(hash, seq);
  }

  stats(query: StatsQuery): JournalStats {
    this.#upkeep.catchUp();
    return computeStats(this.#store.db, query);
  }

  metrics(): ToolMetrics {
    this.#upkeep.catchUp();
    return toolMetrics(this.#store.db);
  }

  keepUp(): void {
    this.#upkeep.keepUp();
  }

  recover(): readonly JournalRow[] {
    return this.#read.markDeadAsUnknown();
  }

  prune(days: number): number {
    return this.#upkeep.prune(days);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#writeDelayed();
    await this.#commit().catch(ignore);
    this.#upkeep.close();
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
    const { added, lastSeq } = this.#writer.write(all);
    this.#unsaved = [];
    this.#upkeep.wrote(added, lastSeq);
  }

  /** The intent may have reached the file although not safely: without an outcome it would run forever. */
  #neverStarted(entry: Entry): void {
    if (entry.seq === undefined) return;
    entry.sealOutcome(neverStartedOutcome);
    this.#unsaved.push(entry);
  }
}

const done = Promise.resolve();

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
