import type { Database } from "../store/driver.js";

/** Which conversation a chat is in. */
export class Chats {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  conversation(gateway: string, chat: string): string | undefined {
    const row = this.#db
      .prepare("SELECT conversation FROM chats WHERE gateway = ? AND chat = ?")
      .get(gateway, chat);
    return row === undefined ? undefined : String(row.conversation);
  }

  enter(seat: { readonly gateway: string; readonly chat: string; readonly conversation: string }): void {
    this.#db
      .prepare(
        `INSERT INTO chats VALUES (?, ?, ?) ON CONFLICT (gateway, chat) DO UPDATE SET conversation = excluded.conversation`,
      )
      .run(seat.gateway, seat.chat, seat.conversation);
  }

  /** The next message begins a new one. */
  leave(gateway: string, chat: string): void {
    this.#db.prepare("DELETE FROM chats WHERE gateway = ? AND chat = ?").run(gateway, chat);
  }
}
