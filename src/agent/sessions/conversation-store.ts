import type { Database, SqlRow, Statement } from "../../store/driver.js";
import { rollback } from "../../store/migrations.js";
import { isOwnerAlive, newOwnerId } from "../../store/process-owner.js";
import { openStore, type Store, type StoreOptions } from "../../store/store.js";
import { insertBill, raisedLimit, raiseLimit, sumOfBills } from "./bills.js";
import { ConversationQueries } from "./conversation-queries.js";
import {
  conversationOf,
  newConversationId,
  noSuchConversation,
  rememberedAliveness,
  titleOf,
  workedOn,
} from "./conversation-rows.js";
import { GroupSync } from "./group-sync.js";
import { columnsOf, readMessages } from "./message-rows.js";
import { recoverConversations } from "./recover.js";
import { withRememberedStatements } from "./remembered-statements.js";
import { CONVERSATION_MIGRATIONS } from "./schema.js";
import { SearchIndex } from "./search-index.js";
import { searchMessages } from "./search-messages.js";
import type {
  Bill,
  BudgetOf,
  Conversation,
  ConversationStore,
  FoundMessage,
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

/** `syncFile` is for tests. */
export async function openConversations(
  files: ConversationFiles,
  options: Pick<StoreOptions, "syncFile" | "checkWhole"> = {},
): Promise<SqliteConversationStore> {
  const store = await openStore({
    path: files.sessionsDb,
    migrations: CONVERSATION_MIGRATIONS,
    ...options,
  });
  if (store.recovered) recoverConversations(store.db);
  return new SqliteConversationStore(store, files.sessionsIndex);
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
  readonly #insertMessage: Statement;
  readonly #countMessages: Statement;
  #followTimer: NodeJS.Timeout | undefined;

  constructor(store: Store, indexPath: string) {
    this.#store = store;
    this.#db = withRememberedStatements(store.db);
    this.#sync = new GroupSync(() => store.syncWal());
    this.#findConversation = store.db.prepare(
      "SELECT * FROM conversations WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)",
    );
    // What a person deletes is overwritten, not only forgotten.
    store.db.exec("PRAGMA secure_delete = ON");
    this.queries = new ConversationQueries(this.#db);
    this.index = new SearchIndex({ path: indexPath, messages: this.#db });
    this.#insertMessage = store.db.prepare(
      "INSERT INTO messages (conversation, role, at, text, rest) VALUES (?, ?, ?, ?, ?)",
    );
    this.#countMessages = store.db.prepare(
      `UPDATE conversations SET messages = messages + ?, bytes = bytes + ?, updated_at = ?,
         title = iif(title = '', ?, title) WHERE seq = ?`,
    );
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
    const row = this.#row(id, owned);
    return row === undefined ? undefined : conversationOf(row);
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
    const columns = added.map(columnsOf);
    const at = Date.now();
    const bytes = columns.reduce(
      (sum, { text, rest }) => sum + Buffer.byteLength(text) + Buffer.byteLength(rest ?? ""),
      0,
    );
    const ids = this.#write(() => {
      const { seq } = this.#existing(session);
      const conversation = Number(seq);
      const numbers = columns.map(
        ({ role, text, rest }) => this.#insertMessage.run(conversation, role, at, text, rest).lastInsertRowid,
      );
      this.#countMessages.run(added.length, bytes, at, titleOf(added), conversation);
      return numbers;
    });
    this.#followLater();
    await this.#sync.committed();
    return added.map((message, index) => ({ ...message, id: String(ids[index]), at }));
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
    await this.#sync.committed();
  }

  async begin(session: string): Promise<boolean> {
    const begun = this.#write(() => {
      const { seq, worker } = this.#existing(session);
      if (typeof worker === "string" && isOwnerAlive(worker)) return false;
      this.#db.prepare("UPDATE conversations SET worker = ? WHERE seq = ?").run(this.#worker, Number(seq));
      return true;
    });
    await this.#sync.committed();
    return begun;
  }

  async end(session: string): Promise<void> {
    this.#db
      .prepare("UPDATE conversations SET worker = NULL WHERE id = ? AND worker = ?")
      .run(session, this.#worker);
    await this.#sync.committed();
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
    this.#write(() => insertBill(this.#db, { ...bill, root: Number(this.#existing(bill.session).root) }));
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
    await this.#sync.committed();
    this.#followLater();
  }

  /** With the conversations that it handed work to. One that is being worked on is not deleted. */
  async delete(session: string, owned?: OwnedBy): Promise<boolean> {
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
    this.#db.prepare("DELETE FROM conversations WHERE seq = ?").run(seq);
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
