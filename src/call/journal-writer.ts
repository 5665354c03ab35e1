import type { Database } from "../store/driver.js";
import { rollback } from "../store/migrations.js";
import { newOwnerId } from "../store/process-owner.js";
import type { Entry } from "./journal-entry.js";
import type { ResultStore } from "./result-store.js";

/** Puts the entries of one turn into the database: all of them, or none. */
export class EntryWriter {
  readonly #db: Database;
  readonly #results: ResultStore | undefined;
  readonly #owner = newOwnerId();
  readonly #insert;
  readonly #complete;
  readonly #replace;
  readonly #begin;
  readonly #end;

  constructor(db: Database, results: ResultStore | undefined) {
    this.#db = db;
    this.#results = results;
    // One statement for the whole group, so that it needs no BEGIN and COMMIT; `key < ?3` marks the intents,
    // which come first.
    this.#insert = db.prepare(
      `INSERT INTO calls (owner, written_at, running, detail)
       SELECT ?1, ?2, key < ?3, value FROM json_each(?4)`,
    );
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#end = db.prepare("COMMIT");
    // Leaves the time of the row alone, and with it an index.
    this.#complete = db.prepare(
      `UPDATE calls SET running = 0, detail = each.value -> 1
       FROM json_each(?1) AS each WHERE calls.seq = each.value ->> 0`,
    );
    this.#replace = db.prepare(
      `INSERT OR REPLACE INTO calls (seq, owner, written_at, running, detail)
       SELECT value ->> 0, ?1, ?2, 0, value -> 1 FROM json_each(?3)`,
    );
  }

  /** How many rows are new, and the number of the last of them. */
  write(entries: readonly Entry[]): { readonly added: number; readonly lastSeq: number } {
    const isNew = (entry: Entry) => entry.seq === undefined;
    const inserts = entries.filter((entry) => isNew(entry) && !entry.hasEnded);
    const intents = inserts.length;
    for (const entry of entries) if (isNew(entry) && entry.hasEnded) inserts.push(entry);
    const updates = entries.filter((entry) => entry.seq !== undefined && entry.hasEnded);

    const keepsResults = this.#results !== undefined && entries.some((entry) => entry.result !== undefined);
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
        const { changes } = this.#complete.run(documents);
        // Somebody took this process for dead and removed its rows.
        if (changes < updates.length) this.#replace.run(this.#owner, Date.now(), documents);
      }
      if (keepsResults) {
        for (const [index, entry] of inserts.entries()) this.#keepResult(firstSeq + index, entry);
        for (const entry of updates) this.#keepResult(entry.seq ?? 0, entry);
      }
      if (several) this.#end.run();
    } catch (error) {
      this.#results?.forget();
      if (several) rollback(this.#db);
      throw error;
    }
    inserts.forEach((entry, index) => {
      entry.seq = firstSeq + index;
    });
    for (const entry of entries) entry.queued = false;
    return { added: inserts.length, lastSeq: firstSeq + inserts.length - 1 };
  }

  #keepResult(seq: number, { result }: Entry): void {
    if (result !== undefined) this.#results?.keep(seq, result.hash, result.text);
  }
}
