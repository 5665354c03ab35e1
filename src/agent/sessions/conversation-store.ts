import type { Database, SqlRow, Statement } from "../../store/driver.js";
import { rollback } from "../../store/migrations.js";
import { isOwnerAlive, newOwnerId } from "../../store/process-owner.js";
import type { SharedLog } from "../../store/shared-log.js";
import { openStore, type Store, type StoreOptions } from "../../store/store.js";
import { type AdoptedConversation, adoptInto, insertMessages } from "./adopt.js";
import { insertBill, raisedLimit, raiseLimit, sumOfBills } from "./bills.js";
import { ConversationQueries } from "./conversation-queries.js";
import {
  conversationOf,
  newConversationId,
  noSuchConversation,
  rememberedAliveness,
  workedOn,
} from "./conversation-rows.js";
import { GroupSync } from "./group-sync.js";
import { readMessages } from "./message-rows.js";
import { recoverConversations } from "./recover.js";
import { withRememberedStatements } from "./remembered-statements.js";
import { CONVERSATION_MIGRATIONS } from "./schema.js";
import { SearchIndex } from "./search-index.js";
import { searchMessages } from "./search-messages.js";
import { type ConversationChange, SharedConversation } from "./shared-conversation.js";
import type {
  Bill,
  BudgetOf,
  Conversation,
  ConversationStore,
  FoundMessage,
  HeldElsewhere,
  NewMessage,
  OwnedBy,
  StoredMessage,
} from "./types.js";

/** The index follows this long after a message, when nobody looks for something before. */
const FOLLOW_DELAY_MS = 500;

export interface ConversationFiles {
  readonly sessionsDb: string;
  readonly sessionsIndex: string;
}

/** `syncFile` is for tests; `log`: other machines that may have to go on with what is said here. */
export async function openConversations(
  files: ConversationFiles,
  {
    log,
    ...options
  }: Pick<StoreOptions, "syncFile" | "checkWhole"> & { readonly log?: SharedLog | undefined } = {},
): Promise<SqliteConversationStore> {
  const store = await openStore({
    path: files.sessionsDb,
    migrations: CONVERSATION_MIGRATIONS,
    ...options,
  });
  if (store.recovered) recoverConversations(store.db);
  return new SqliteConversationStore(store, { indexPath: files.sessionsIndex, log });
}

/** Conversations in `sessions.db`; what was answered is committed. */
export class SqliteConversationStore implements ConversationStore {
  readonly index: SearchIndex;
  readonly queries: ConversationQueries;
  readonly #store: Store;
  readonly #db: Database;
  readonly #sync: GroupSync;
  readonly #worker = newOwnerId();
  readonly #findConversation: Statement;
  readonly #log: SharedLog | undefined;
  #followTimer: NodeJS.Timeout | undefined;

  constructor(store: Store, { indexPath, log }: { indexPath: string; log?: SharedLog | undefined }) {
    this.#store = store;
    this.#log = log;
    this.#db = withRememberedStatements(store.db);
    this.#sync = new GroupSync(() => store.syncWal());
    this.#findConversation = store.db.prepare(
      "SELECT * FROM conversations WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)",
    );
    // What a person deletes is overwritten, not only forgotten.
    store.db.exec("PRAGMA secure_delete = ON");
    this.queries = new ConversationQueries(this.#db);
    this.index = new SearchIndex({ path: indexPath, messages: this.#db });
  }

  /** What a person should be told about this opening. */
  get notices(): readonly string[] {
    return this.#store.notices;
  }

  async create(about: Parameters<ConversationStore["create"]>[0]): Promise<Conversation> {
    const { source, model, cwd, title = "", parent } = about;
    const now = Date.now();
    const id = newConversationId(now);
    this.#write(() => {
      const kin = parent === undefined ? undefined : this.#row(parent);
      if (parent !== undefined && kin === undefined) throw noSuchConversation(parent);
      // What is handed on belongs to whom it is done for.
      const owner = about.owner ?? (kin === undefined ? "" : String(kin.owner));
      const { lastInsertRowid: seq } = this.#db
        .prepare(
          `INSERT INTO conversations
             (id, title, source, owner, model, cwd, parent, root, started_at, updated_at, messages, bytes)
           VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0)`,
        )
        .run(id, title, source, owner, model, cwd, parent ?? null, now, now);
      this.#db
        .prepare("UPDATE conversations SET root = ? WHERE seq = ?")
        .run(kin === undefined ? seq : Number(kin.root), seq);
    });
    await this.#sync.committed();
    return conversationOf(this.#existing(id));
  }

  async get(id: string, owned?: OwnedBy): Promise<Conversation | undefined> {
    await this.#refresh(id);
    const row = this.#row(id, owned);
    return row === undefined ? undefined : conversationOf(row);
  }

  /** The one that was talked in last: on this machine, or on another one of its cluster. */
  async newest(owned: OwnedBy = {}): Promise<Conversation | undefined> {
    const elsewhere = await this.#log?.newest(
      "talk",
      ({ owner }) => owned.owner === undefined || owned.owner === owner,
    );
    if (elsewhere !== undefined) await this.#refresh(elsewhere);
    return (await this.list({ ...owned, limit: 1 }))[0];
  }

  async list(query: Parameters<ConversationStore["list"]>[0] = {}): Promise<readonly Conversation[]> {
    const { owner, source, children = false, limit = -1, before } = query;
    const isAlive = rememberedAliveness();
    return this.#db
      .prepare(
        `SELECT * FROM conversations
         WHERE (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR source = ?2) AND (?3 = 1 OR parent IS NULL)
           AND (?5 IS NULL OR updated_at < ?5
             OR (updated_at = ?5 AND seq < (SELECT seq FROM conversations WHERE id = ?6)))
         ORDER BY updated_at DESC, seq DESC LIMIT ?4`,
      )
      .all(
        owner ?? null,
        source ?? null,
        children ? 1 : 0,
        limit,
        before?.updatedAt ?? null,
        before?.id ?? null,
      )
      .map((row) => conversationOf(row, isAlive));
  }

  async append(session: string, added: readonly NewMessage[]): Promise<readonly StoredMessage[]> {
    const at = Date.now();
    const messages = added.map((message) => ({ ...message, at }));
    const insert = () => insertMessages(this.#db, { conversation: this.#number(session), messages });
    const shared = this.#shared(session);
    const ids =
      shared === undefined
        ? this.#write(insert)
        : await shared.log.record<ConversationChange, readonly number[]>(shared.copy, {
            changes: () => [{ kind: "messages", messages: shared.copy.shared(messages) }],
            commit: (seq) =>
              this.#write(() => {
                // Another process of this home may have read the record before it was written here.
                const isHere = (shared.copy.state()?.seq ?? 0) >= seq;
                const numbers = isHere ? this.#lastNumbers(session, added.length) : insert();
                if (!isHere) shared.copy.standAt(seq);
                return numbers;
              }),
          });
    this.#followLater();
    await this.#sync.committed();
    return messages.map((message, index) => ({ ...message, id: String(ids[index]) }));
  }

  /** Takes in a conversation of elsewhere, whole or not at all; false when one of that id is here. */
  async adopt(conversation: AdoptedConversation): Promise<boolean> {
    const isNew = this.#write(() => adoptInto(this.#db, conversation));
    await this.#sync.committed();
    if (isNew) this.#followLater();
    return isNew;
  }

  async messages(
    session: string,
    range: { readonly last?: number; readonly after?: string } = {},
  ): Promise<readonly StoredMessage[]> {
    const { last, after } = range;
    return readMessages(this.#db, { conversation: this.#number(session), after, limit: last, fromEnd: true });
  }

  /** The next messages in order, for whoever reads a conversation of any length piece by piece. */
  async page(
    session: string,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly StoredMessage[]> {
    return readMessages(this.#db, { conversation: this.#number(session), after, limit });
  }

  /** The last messages before one. */
  async before(
    session: string,
    { message, limit }: { readonly message: string; readonly limit: number },
  ): Promise<readonly StoredMessage[]> {
    return readMessages(this.#db, {
      conversation: this.#number(session),
      before: message,
      limit,
      fromEnd: true,
    });
  }

  async update(session: string, change: { readonly title?: string; readonly model?: string }): Promise<void> {
    this.#write(() => {
      const { seq, title, model } = this.#existing(session);
      this.#db
        .prepare("UPDATE conversations SET title = ?, model = ? WHERE seq = ?")
        .run(change.title ?? String(title), change.model ?? String(model), Number(seq));
    });
    this.#tellLater(session, { kind: "about", ...change });
    await this.#sync.committed();
  }

  async begin(session: string): Promise<boolean | HeldElsewhere> {
    const begun = this.#write(() => {
      const { seq, worker } = this.#existing(session);
      if (typeof worker === "string" && isOwnerAlive(worker)) return false;
      this.#db.prepare("UPDATE conversations SET worker = ? WHERE seq = ?").run(this.#worker, Number(seq));
      return true;
    });
    const holder = begun ? await this.#hold(session) : undefined;
    await this.#sync.committed();
    return holder ?? begun;
  }

  async end(session: string): Promise<void> {
    const shared = this.#shared(session);
    await shared?.log.release(shared.copy);
    this.#letGo(session);
    await this.#sync.committed();
  }

  #letGo(session: string): void {
    this.#db
      .prepare("UPDATE conversations SET worker = NULL WHERE id = ? AND worker = ?")
      .run(session, this.#worker);
  }

  async search(
    query: Parameters<ConversationStore["search"]>[0] & {
      /** Of a conversation and those it handed work to, only the best message. */
      readonly onePerFamily?: boolean;
    },
  ): Promise<readonly FoundMessage[]> {
    const { words, roles, except, owner, limit, onePerFamily } = query;
    const kin = except === undefined ? undefined : this.#row(except);
    const exceptRoot = kin === undefined ? undefined : Number(kin.root);
    return searchMessages(
      { index: this.index, messages: this.#db },
      { words, scope: { owner, roles, exceptRoot }, limit, onePerFamily },
    );
  }

  async addBill(bill: Omit<Bill, "at">): Promise<void> {
    const at = Date.now();
    const root = Number(this.#existing(bill.session).root);
    this.#write(() => insertBill(this.#db, { ...bill, at, root }));
    // What is handed on is paid for by whoever handed it on.
    const payer = this.#db.prepare("SELECT id FROM conversations WHERE seq = ?").get(root);
    if (payer !== undefined) this.#tellLater(String(payer.id), { kind: "bill", bill: { ...bill, at } });
    await this.#sync.committed();
  }

  async spent(query: {
    readonly session?: string | undefined;
    readonly since?: number | undefined;
  }): Promise<number> {
    const root = query.session === undefined ? undefined : Number(this.#existing(query.session).root);
    return sumOfBills(this.#db, { root, since: query.since });
  }

  async raisedBudget(of: BudgetOf): Promise<number | undefined> {
    return raisedLimit(this.#db, this.#budgetKey(of));
  }

  async raiseBudget(of: BudgetOf, usd: number): Promise<void> {
    this.#write(() => raiseLimit(this.#db, this.#budgetKey(of), usd));
    if ("session" in of) this.#tellLater(of.session, { kind: "budget", usd });
    await this.#sync.committed();
  }

  #budgetKey(of: BudgetOf): string {
    if ("session" in of) return `budget:${Number(this.#existing(of.session).root)}`;
    return `budget:${new Date(of.dayOf).toLocaleDateString("sv-SE")}`;
  }

  /** Takes back everything that was said after a message; what it cost stays on the bill. */
  async removeAfter(session: string, message: string): Promise<void> {
    this.#write(() => {
      const seq = this.#number(session);
      const after = [seq, Number(message)];
      this.#db
        .prepare(
          "INSERT INTO removed_messages (message) SELECT seq FROM messages WHERE conversation = ? AND seq > ?",
        )
        .run(...after);
      const { changes } = this.#db
        .prepare("DELETE FROM messages WHERE conversation = ? AND seq > ?")
        .run(...after);
      this.#db
        .prepare("UPDATE conversations SET messages = messages - ? WHERE seq = ?")
        .run(Number(changes), seq);
    });
    const shared = this.#shared(session);
    if (shared !== undefined)
      await shared.log.record(shared.copy, {
        changes: () => [],
        commit: (to) => this.#write(() => shared.copy.standAt(to)),
      });
    await this.#sync.committed();
    this.#followLater();
  }

  /** With the conversations that it handed work to. One that is being worked on is not deleted. */
  async delete(session: string, owned?: OwnedBy): Promise<boolean> {
    const shared = this.#row(session, owned) === undefined ? undefined : this.#shared(session);
    if (shared !== undefined && (shared.copy.state()?.seq ?? 0) > 0)
      await shared.log.record(shared.copy, { changes: () => [{ kind: "deleted" }], commit: () => undefined });
    const isThere = this.#write(() => {
      const row = this.#row(session, owned);
      if (row === undefined) return false;
      const family = this.#family(row);
      const busy = family.find(({ worker }) => typeof worker === "string" && isOwnerAlive(worker));
      if (busy !== undefined) throw workedOn(String(busy.id));
      for (const { seq } of family) this.#deleteOne(Number(seq));
      return true;
    });
    if (!isThere) return false;
    await this.#sync.committed();
    this.#emptyLog();
    await this.index.follow().catch(() => undefined);
    return true;
  }

  /** Reads every page of both files; what is wrong with them. The index mends itself. */
  async check(): Promise<{ readonly messages: readonly string[]; readonly index: readonly string[] }> {
    return { messages: this.#store.check(), index: await this.index.check() };
  }

  async close(): Promise<void> {
    clearTimeout(this.#followTimer);
    await this.index.close();
    await this.#sync.close();
    await this.#store.close();
  }

  #row(id: string, owned: OwnedBy = {}): SqlRow | undefined {
    return this.#findConversation.get(id, owned.owner ?? null);
  }

  #existing(id: string): SqlRow {
    const row = this.#row(id);
    if (row === undefined) throw noSuchConversation(id);
    return row;
  }

  #number(id: string): number {
    return Number(this.#existing(id).seq);
  }

  /** The conversation and all that descend from it. */
  #family({ id }: SqlRow): readonly SqlRow[] {
    return this.#db
      .prepare(
        `WITH RECURSIVE family (id) AS (
           SELECT ? UNION SELECT c.id FROM conversations c JOIN family f ON c.parent = f.id
         ) SELECT c.* FROM conversations c JOIN family f ON c.id = f.id`,
      )
      .all(String(id));
  }

  #deleteOne(seq: number): void {
    this.#db
      .prepare("INSERT INTO removed_messages (message) SELECT seq FROM messages WHERE conversation = ?")
      .run(seq);
    this.#db.prepare("DELETE FROM messages WHERE conversation = ?").run(seq);
    this.#db.prepare("DELETE FROM shared WHERE conversation = ?").run(seq);
    this.#db.prepare("DELETE FROM conversations WHERE seq = ?").run(seq);
  }

  /** What other machines have to know of; undefined for what is this machine's own affair. */
  #shared(id: string): { readonly log: SharedLog; readonly copy: SharedConversation } | undefined {
    if (this.#log === undefined || typeof this.#row(id)?.parent === "string") return undefined;
    const copy = new SharedConversation({
      db: this.#db,
      id,
      write: (work) => this.#write(work),
      onChange: () => this.#followLater(),
    });
    return { log: this.#log, copy };
  }

  async #refresh(id: string): Promise<void> {
    const shared = this.#shared(id);
    try {
      await shared?.log.refresh(shared.copy);
    } catch (error) {
      // What is here can be read without the others; whoever wants to go on is told.
      if (this.#row(id) === undefined) throw error;
    }
  }

  async #hold(id: string): Promise<HeldElsewhere | undefined> {
    const shared = this.#shared(id);
    if (shared === undefined) return undefined;
    try {
      const holder = await shared.log.hold(shared.copy);
      if (holder === undefined) return undefined;
      this.#letGo(id);
      return { by: `node ${holder.node} on ${holder.host}` };
    } catch (error) {
      this.#letGo(id);
      throw error;
    }
  }

  #tellLater(id: string, change: ConversationChange): void {
    const shared = this.#shared(id);
    shared?.log.later(shared.copy, change);
  }

  #lastNumbers(id: string, count: number): readonly number[] {
    const last = readMessages(this.#db, { conversation: this.#number(id), limit: count, fromEnd: true });
    return last.map((message) => Number(message.id));
  }

  /** What was deleted stands in the log until that is emptied; where somebody reads, the next time. */
  #emptyLog(): void {
    this.#db.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000");
  }

  #write<Result>(work: () => Result): Result {
    this.#db.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = work();
      this.#db.prepare("COMMIT").run();
      return result;
    } catch (error) {
      rollback(this.#db);
      throw error;
    }
  }

  #followLater(): void {
    // An index that cannot be written keeps nobody from talking; whoever searches is told.
    this.#followTimer ??= setTimeout(() => {
      this.#followTimer = undefined;
      this.index.follow().catch(() => undefined);
    }, FOLLOW_DELAY_MS).unref();
  }
}
