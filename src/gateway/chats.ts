import type { Database } from "../store/driver.js";
import type { Role } from "./people.js";

/** Owners and guests of one chat do not share a conversation: what was said to an owner is not for everybody. */
export interface ChatSeat {
  readonly gateway: string;
  readonly chat: string;
  readonly role: Role;
}

/** Which conversation a chat is in. */
export class Chats {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  conversation({ gateway, chat, role }: ChatSeat): string | undefined {
    const row = this.#db
      .prepare("SELECT conversation FROM chats WHERE gateway = ? AND chat = ? AND role = ?")
      .get(gateway, chat, role);
    return row === undefined ? undefined : String(row.conversation);
  }

  enter({ gateway, chat, role }: ChatSeat, conversation: string): void {
    this.#db
      .prepare(
        `INSERT INTO chats VALUES (?, ?, ?, ?)
         ON CONFLICT (gateway, chat, role) DO UPDATE SET conversation = excluded.conversation`,
      )
      .run(gateway, chat, role, conversation);
  }

  /** The next message begins a new one. */
  leave({ gateway, chat, role }: ChatSeat): void {
    this.#db
      .prepare("DELETE FROM chats WHERE gateway = ? AND chat = ? AND role = ?")
      .run(gateway, chat, role);
  }

  /** Chats of a gateway in which somebody who may talk has talked. */
  known(gateway: string): readonly string[] {
    return this.#db
      .prepare("SELECT DISTINCT chat FROM chats WHERE gateway = ? ORDER BY chat")
      .all(gateway)
      .map(({ chat }) => String(chat));
  }
}
