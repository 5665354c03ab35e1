import type { Database, SqlRow, Statement } from "../store/driver.js";
import type { IncomingMessage } from "./gateway.js";

/** `refused`: of somebody who may not talk; only the id is kept. `parked`: it was interrupted too often. */
export type InboxState = "waiting" | "working" | "done" | "refused" | "parked";

export interface InboxRow {
  readonly seq: number;
  readonly gateway: string;
  readonly receivedAt: number;
  readonly state: InboxState;
  /** How often work on it has begun. */
  readonly tries: number;
  readonly conversation: string | undefined;
  readonly begunAfter: string | undefined;
  readonly message: IncomingMessage;
}

/** Everything that came in, by the platform's own ids. Callers wrap changes in `GatewayStore.write`. */
export class Inbox {
  readonly #db: Database;
  readonly #insert: Statement;
  readonly #next: Statement;

  constructor(db: Database) {
    this.#db = db;
    this.#insert = db.prepare(
      `INSERT INTO inbox (gateway, id, chat, received_at, state, message) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (gateway, id) DO NOTHING`,
    );
    this.#next = db.prepare(
      `SELECT * FROM inbox WHERE gateway = ? AND chat = ? AND state IN ('waiting', 'working') ORDER BY seq LIMIT 1`,
    );
  }

  /** False when it is known already, in whatever state. */
  add(added: {
    readonly gateway: string;
    readonly message: IncomingMessage;
    readonly state?: InboxState | undefined;
  }): boolean {
    const { gateway, message, state = "waiting" } = added;
    const kept = state === "waiting" ? JSON.stringify(message) : "";
    return this.#insert.run(gateway, message.id, message.chat, Date.now(), state, kept).changes === 1;
  }

  /** The last one of each chat. */
  heard(gateway: string): readonly { readonly chat: string; readonly id: string }[] {
    return this.#db
      .prepare(
        "SELECT chat, id FROM inbox WHERE seq IN (SELECT max(seq) FROM inbox WHERE gateway = ? GROUP BY chat)",
      )
      .all(gateway)
      .map(({ chat, id }) => ({ chat: String(chat), id: String(id) }));
  }

  /** The oldest one that is not answered: one that was being worked on comes before all that came after it. */
  next(gateway: string, chat: string): InboxRow | undefined {
    const row = this.#next.get(gateway, chat);
    return row === undefined ? undefined : inboxRow(row);
  }

  /** Chats that wait for an answer. */
  openChats(gateway: string): readonly string[] {
    return this.#db
      .prepare(`SELECT DISTINCT chat FROM inbox WHERE gateway = ? AND state IN ('waiting', 'working')`)
      .all(gateway)
      .map(({ chat }) => String(chat));
  }

  begin(seq: number, into: { readonly conversation: string; readonly after: string }): void {
    this.#db
      .prepare(
        `UPDATE inbox SET state = 'working', tries = tries + 1, conversation = ?,
           begun_after = coalesce(begun_after, ?) WHERE seq = ?`,
      )
      .run(into.conversation, into.after, seq);
  }

  /** The program ends in an orderly way: that is not counted as an interruption. */
  release(seq: number): void {
    this.#db.prepare("UPDATE inbox SET tries = tries - 1 WHERE seq = ? AND state = 'working'").run(seq);
  }

  settle(seq: number, state: "done" | "parked"): void {
    this.#db.prepare("UPDATE inbox SET state = ?, message = '' WHERE seq = ?").run(state, seq);
  }

  /** Messages of a chat that were taken since then. */
  takenSince(chat: { readonly gateway: string; readonly chat: string; readonly since: number }): number {
    const row = this.#db
      .prepare(
        "SELECT count(*) AS n FROM inbox WHERE gateway = ? AND chat = ? AND received_at >= ? AND state <> 'refused'",
      )
      .get(chat.gateway, chat.chat, chat.since);
    return Number(row?.n ?? 0);
  }

  waiting(gateway: string): number {
    const row = this.#db
      .prepare(`SELECT count(*) AS n FROM inbox WHERE gateway = ? AND state IN ('waiting', 'working')`)
      .get(gateway);
    return Number(row?.n ?? 0);
  }

  prune(before: number): void {
    this.#db
      .prepare(`DELETE FROM inbox WHERE received_at < ? AND state NOT IN ('waiting', 'working')`)
      .run(before);
  }
}

function inboxRow(row: SqlRow): InboxRow {
  return {
    seq: Number(row.seq),
    gateway: String(row.gateway),
    receivedAt: Number(row.received_at),
    state: String(row.state) as InboxState,
    tries: Number(row.tries),
    conversation: row.conversation === null ? undefined : String(row.conversation),
    begunAfter: row.begun_after === null ? undefined : String(row.begun_after),
    message: JSON.parse(String(row.message)) as IncomingMessage,
  };
}
