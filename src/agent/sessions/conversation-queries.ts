import type { Database } from "../../store/driver.js";

/** A conversation with all that descend from it. */
export interface ConversationFamily {
  /** The conversation they descend from. */
  readonly id: string;
  readonly updatedAt: number;
  readonly bytes: number;
}

/** Questions about conversations that only some ask. */
export class ConversationQueries {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** How many bytes the messages of all conversations take. */
  bytes(): number {
    return Number(this.#db.prepare("SELECT total(bytes) AS bytes FROM conversations").get()?.bytes ?? 0);
  }

  /** The one that rested longest first. */
  families(): readonly ConversationFamily[] {
    return this.#db
      .prepare(
        `SELECT r.id, max(c.updated_at) AS updated_at, sum(c.bytes) AS bytes
         FROM conversations c JOIN conversations r ON r.seq = c.root GROUP BY c.root ORDER BY 2`,
      )
      .all()
      .map((row) => ({ id: String(row.id), updatedAt: Number(row.updated_at), bytes: Number(row.bytes) }));
  }

  /** The conversation that this one descends from; itself when from none. */
  rootOf(session: string): string | undefined {
    const row = this.#db
      .prepare("SELECT r.id FROM conversations c JOIN conversations r ON r.seq = c.root WHERE c.id = ?")
      .get(session);
    return row === undefined ? undefined : String(row.id);
  }

  /** The conversation a message belongs to. */
  sessionOf(message: string): string | undefined {
    const row = this.#db
      .prepare("SELECT c.id FROM messages m JOIN conversations c ON c.seq = m.conversation WHERE m.seq = ?")
      .get(Number(message));
    return row === undefined ? undefined : String(row.id);
  }
}
