import { type Database, textOfBlob } from "../store/driver.js";
import { cutToBytes } from "./journal-rows.js";

/** What a row takes beside its text. */
const ROW_BYTES = 100;
/** Rows that leave in one go, so that nobody waits long for the database. */
const LEAVING = 500;
/** So much is freed at once that the next time is not soon. */
const FREED = 1 / 8;
/** Answers of this process that are not written again when they come again. */
const REMEMBERED = 64;

/**
 * What calls were answered with. Rows are only ever added at the end, beside the row of the call: an index by hash would
 * cost each call more than its own row does.
 */
export class ResultStore {
  readonly #db: Database;
  readonly #maxBytes: number;
  readonly #insert;
  readonly #lately = new Set<string>();
  /** Written since somebody last looked whether it is too much. */
  #written = 0;

  /** `maxBytes`: room for all texts together. */
  constructor(db: Database, { maxBytes }: { readonly maxBytes: number }) {
    this.#db = db;
    this.#maxBytes = maxBytes;
    this.#insert = db.prepare(
      "INSERT OR REPLACE INTO call_results (seq, hash, bytes, text) VALUES (?, ?, ?, ?)",
    );
  }

  /** Inside the transaction of whoever writes the row `seq`. */
  keep(seq: number, hash: string, text: string): void {
    if (this.#lately.has(hash)) return;
    this.#remember(hash);
    const kept = Buffer.from(cutToBytes(text));
    this.#written += kept.length + ROW_BYTES;
    this.#insert.run(seq, hash, kept.length, kept);
  }

  #remember(hash: string): void {
    const [first] = this.#lately;
    if (this.#lately.size >= REMEMBERED && first !== undefined) this.#lately.delete(first);
    this.#lately.add(hash);
  }

  /** What was written may not have been committed. */
  forget(): void {
    this.#lately.clear();
  }

  get(hash: string, seq: number | undefined): string | undefined {
    const find = (from: number) =>
      this.#db
        .prepare("SELECT text FROM call_results WHERE seq <= ? AND hash = ? ORDER BY seq DESC LIMIT 1")
        .get(from, hash);
    // Most often in the row of the call itself, else a little before it.
    const row = (seq === undefined ? undefined : find(seq)) ?? find(Number.MAX_SAFE_INTEGER);
    return row === undefined ? undefined : textOfBlob(row.text);
  }

  /** Enough was written since the last look to look again. */
  get isWorthTrimming(): boolean {
    return this.#written > (this.#maxBytes * FREED) / 2;
  }

  /** Removes what is oldest until there is room; true when more has to leave than was removed now. */
  trim(): boolean {
    this.#written = 0;
    this.#lately.clear();
    const sum = this.#db.prepare(`SELECT total(bytes + ${ROW_BYTES}) AS sum FROM call_results`).get()?.sum;
    const excess = Number(sum ?? 0) - this.#maxBytes;
    if (excess <= 0) return false;
    let toFree = excess + this.#maxBytes * FREED;
    let last: number | undefined;
    for (const { seq, bytes } of this.#db
      .prepare("SELECT seq, bytes FROM call_results ORDER BY seq LIMIT ?")
      .all(LEAVING)) {
      if (toFree <= 0) break;
      toFree -= Number(bytes) + ROW_BYTES;
      last = Number(seq);
    }
    if (last !== undefined) this.#db.prepare("DELETE FROM call_results WHERE seq <= ?").run(last);
    return toFree > 0 && last !== undefined;
  }
}
