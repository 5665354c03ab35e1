import { statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DatabaseError } from "../../store/database-error.js";
import type { Database } from "../../store/driver.js";
import { rollback } from "../../store/migrations.js";
import { openStore, type Store } from "../../store/store.js";
import { messagesToIndex } from "./index-feed.js";
import { INDEX_MIGRATIONS } from "./schema.js";
import { expressionOf, type Scope } from "./search-expression.js";
import type { Terms } from "./search-words.js";

/** Messages that are indexed before others get their turn. */
const BATCH = 50;

/**
 * Which messages hold which words, in a file of its own. It follows `sessions.db` by the numbers of its messages, from
 * whichever process looks next, and is made anew when it is damaged, gone, or belongs to another database.
 */
export class SearchIndex {
  readonly #path: string;
  readonly #messages: Database;
  #opened: Promise<{ readonly store: Store; readonly inode: number }> | undefined;
  #following: Promise<void> | undefined;

  constructor(options: { readonly path: string; readonly messages: Database }) {
    this.#path = options.path;
    this.#messages = options.messages;
  }

  /** Numbers of the newest messages that hold all of the terms. */
  async newest(sought: {
    readonly terms: Terms;
    readonly scope: Scope;
    readonly limit: number;
  }): Promise<readonly number[]> {
    try {
      return await this.#lookUp(sought);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.#replaceDamaged();
      return this.#lookUp(sought);
    }
  }

  /** Takes up what was written and deleted since; callers that come meanwhile wait for the same. */
  follow(): Promise<void> {
    this.#following ??= this.#followAll().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  /** Forgets everything and reads all messages again. */
  async rebuild(): Promise<void> {
    await this.#following?.catch(() => undefined);
    const { db } = await this.#store();
    inTransaction(db, () => startAnew(db, lastNumbers(this.#messages)));
    await this.follow();
  }

  /** The findings of a check of every page, none when it is sound. */
  async check(): Promise<readonly string[]> {
    return (await this.#store()).check();
  }

  async close(): Promise<void> {
    await this.#following?.catch(() => undefined);
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.store.close();
  }

  async #followAll(): Promise<void> {
    try {
      while (await this.#followSome()) await nextTurn();
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.#replaceDamaged();
    }
  }

  async #lookUp({ terms, scope, limit }: Parameters<SearchIndex["newest"]>[0]): Promise<readonly number[]> {
    const { db } = await this.#store();
    return db
      .prepare(
        "SELECT rowid AS message FROM message_words WHERE message_words MATCH ? ORDER BY rowid DESC LIMIT ?",
      )
      .all(expressionOf(terms, scope), limit)
      .map(({ message }) => Number(message));
  }

  async #replaceDamaged(): Promise<void> {
    (await this.#store()).check();
    await this.mend();
  }

  /** After a check that found damage: the next opening looks at every page and begins a new file. */
  async mend(): Promise<void> {
    await this.#forgetOpened();
    while (await this.#followSome()) await nextTurn();
  }

  /** False when nothing was left to do. */
  async #followSome(): Promise<boolean> {
    const { db } = await this.#store();
    if (isUpToDate(progressOf(db), lastNumbers(this.#messages))) return false;
    const isMore = inTransaction(db, () => {
      // Only now: while this process waited for its turn, another one may have gone further.
      const last = lastNumbers(this.#messages);
      if (!belongsTo(progressOf(db), last)) startAnew(db, last);
      const progress = progressOf(db);
      const removedTo = takeOut(db, this.#messages, progress.removedTo);
      const rows = messagesToIndex(this.#messages, {
        after: progress.indexedTo,
        upTo: last.message,
        limit: BATCH,
      });
      const add = db.prepare(
        "INSERT INTO message_words (rowid, words, characters, tags) VALUES (?, ?, ?, ?)",
      );
      for (const { message, words, characters, tags } of rows) add.run(message, words, characters, tags);
      // What lies between is deleted or not worth finding; numbers are never used again.
      const indexedTo = rows.length < BATCH ? last.message : (rows.at(-1)?.message ?? last.message);
      db.prepare("UPDATE progress SET indexed_to = ?, removed_to = ?").run(indexedTo, removedTo);
      return rows.length === BATCH;
    });
    this.#messages.prepare("DELETE FROM removed_messages WHERE seq <= ?").run(progressOf(db).removedTo);
    return isMore;
  }

  async #store(): Promise<Store> {
    const known = await this.#opened?.catch(() => undefined);
    if (known !== undefined) {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino === known.inode) return known.store;
      await this.#forgetOpened();
    }
    // One that could not be opened may be opened the next time.
    this.#opened ??= openIndex(this.#path).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return (await this.#opened).store;
  }

  async #forgetOpened(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await (await opened?.catch(() => undefined))?.store.close().catch(() => undefined);
  }
}

async function openIndex(path: string): Promise<{ readonly store: Store; readonly inode: number }> {
  const store = await openStore({ path, migrations: INDEX_MIGRATIONS, rebuildable: true });
  return { store, inode: statSync(store.path).ino };
}

interface Progress {
  readonly identity: string;
  readonly indexedTo: number;
  readonly removedTo: number;
}

function progressOf(db: Database): Progress {
  const row = db.prepare("SELECT identity, indexed_to, removed_to FROM progress").get();
  return {
    identity: String(row?.identity ?? ""),
    indexedTo: Number(row?.indexed_to ?? 0),
    removedTo: Number(row?.removed_to ?? 0),
  };
}

interface LastNumbers {
  readonly identity: string;
  readonly message: number;
  readonly removed: number;
}

function lastNumbers(messages: Database): LastNumbers {
  const last = (table: string): number =>
    Number(messages.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table)?.seq ?? 0);
  return {
    identity: String(messages.prepare("SELECT value FROM about WHERE key = 'identity'").get()?.value),
    message: last("messages"),
    removed: last("removed_messages"),
  };
}

/** False when the database was replaced by another one, or by an older copy. */
function belongsTo(progress: Progress, last: LastNumbers): boolean {
  return (
    progress.identity === last.identity &&
    progress.indexedTo <= last.message &&
    progress.removedTo <= last.removed
  );
}

function isUpToDate(progress: Progress, last: LastNumbers): boolean {
  return (
    progress.identity === last.identity &&
    progress.indexedTo === last.message &&
    progress.removedTo === last.removed
  );
}

function startAnew(db: Database, { identity, removed }: LastNumbers): void {
  db.exec("INSERT INTO message_words (message_words) VALUES ('delete-all')");
  db.prepare("UPDATE progress SET identity = ?, indexed_to = 0, removed_to = ?").run(identity, removed);
}

function takeOut(db: Database, messages: Database, after: number): number {
  const rows = messages.prepare("SELECT seq, message FROM removed_messages WHERE seq > ?").all(after);
  const remove = db.prepare("DELETE FROM message_words WHERE rowid = ?");
  for (const { message } of rows) remove.run(Number(message));
  return Number(rows.at(-1)?.seq ?? after);
}

function inTransaction<Result>(db: Database, work: () => Result): Result {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    rollback(db);
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === "corrupt";
}
