import { randomInt } from "node:crypto";
import type { Database, SqlRow, Statement } from "../store/driver.js";
import { isOwnerAlive } from "../store/process-owner.js";
import type { OutgoingPart } from "./gateway.js";

export type OutboxState = "waiting" | "sending" | "sent" | "failed";

/** What is written down of a part; its number is its id, and whether it goes plain is learnt by sending it. */
export type NewPart = Omit<OutgoingPart, "id" | "plain">;

export interface OutboxRow {
  readonly seq: number;
  /** What the platform is told to know it by, should it come a second time: from whichever machine. */
  readonly uid: string;
  readonly createdAt: number;
  /** `sending`: handed to the platform, and nobody knows yet whether it arrived. */
  readonly state: OutboxState;
  readonly plain: boolean;
  readonly part: NewPart;
}

/** One row for each message that has to go out. Callers wrap changes in `GatewayStore.write`. */
export class Outbox {
  readonly #db: Database;
  readonly #worker: string;
  readonly #next: Statement;

  constructor(db: Database, worker: string) {
    this.#db = db;
    this.#worker = worker;
    // Texts before edits: nobody waits for a button to disappear.
    this.#next = db.prepare(
      `SELECT * FROM outbox WHERE gateway = ? AND chat = ? AND state IN ('waiting', 'sending')
       ORDER BY is_edit, seq LIMIT 1`,
    );
  }

  add(gateway: string, part: NewPart): number {
    return this.#db
      .prepare(
        `INSERT INTO outbox (gateway, chat, created_at, state, is_edit, part, uid)
         VALUES (?, ?, ?, 'waiting', ?, ?, ?)`,
      )
      .run(
        gateway,
        part.chat,
        Date.now(),
        part.replaces === undefined ? 0 : 1,
        JSON.stringify(part),
        String(randomInt(2 ** 47)),
      ).lastInsertRowid;
  }

  next(gateway: string, chat: string): OutboxRow | undefined {
    const row = this.#next.get(gateway, chat);
    return row === undefined ? undefined : outboxRow(row);
  }

  openChats(gateway: string): readonly string[] {
    return this.#db
      .prepare(`SELECT DISTINCT chat FROM outbox WHERE gateway = ? AND state IN ('waiting', 'sending')`)
      .all(gateway)
      .map(({ chat }) => String(chat));
  }

  /** Takes a part in hand; false while another process that lives has it, or when it is settled. */
  sending(seq: number): boolean {
    const row = this.#db.prepare("SELECT state, sender FROM outbox WHERE seq = ?").get(seq);
    const isOpen = row?.state === "waiting" || row?.state === "sending";
    const sender = typeof row?.sender === "string" ? row.sender : undefined;
    if (!isOpen || (sender !== undefined && sender !== this.#worker && isOwnerAlive(sender))) return false;
    this.#db.prepare("UPDATE outbox SET state = 'sending', sender = ? WHERE seq = ?").run(this.#worker, seq);
    return true;
  }

  /** Whatever this process had in its hands, others may take. */
  letGo(): void {
    this.#db.prepare("UPDATE outbox SET sender = NULL WHERE sender = ?").run(this.#worker);
  }

  /** It goes out again; unsure: it may have arrived all the same. */
  again(seq: number, { plain, isUnsure }: { readonly plain: boolean; readonly isUnsure: boolean }): void {
    this.#db
      .prepare("UPDATE outbox SET state = ?, plain = max(plain, ?), sender = NULL WHERE seq = ?")
      .run(isUnsure ? "sending" : "waiting", plain ? 1 : 0, seq);
  }

  sent(seq: number, ref: string): void {
    this.#db.prepare("UPDATE outbox SET state = 'sent', ref = ?, part = '{}' WHERE seq = ?").run(ref, seq);
  }

  failed(seq: number, error: string): void {
    this.#db.prepare("UPDATE outbox SET state = 'failed', error = ? WHERE seq = ?").run(error, seq);
  }

  /** How it stands with a part; undefined when it was withdrawn. */
  settled(
    seq: number,
  ): { readonly state: OutboxState; readonly ref: string; readonly error: string } | undefined {
    const row = this.#db.prepare("SELECT state, ref, error FROM outbox WHERE seq = ?").get(seq);
    if (row === undefined) return undefined;
    const { state, ref, error } = row;
    return { state: String(state) as OutboxState, ref: String(ref ?? ""), error: String(error ?? "") };
  }

  /** The platform's name of a message that was sent. */
  refOf(seq: number): string | undefined {
    const ref = this.#db.prepare("SELECT ref FROM outbox WHERE seq = ?").get(seq)?.ref;
    return typeof ref === "string" ? ref : undefined;
  }

  /** A question that is over before anybody saw it need not be sent. */
  withdraw(seq: number): boolean {
    return this.#db.prepare("DELETE FROM outbox WHERE seq = ? AND state = 'waiting'").run(seq).changes === 1;
  }

  counts(gateway: string): { readonly waiting: number; readonly failed: number } {
    const row = this.#db
      .prepare(
        `SELECT sum(state IN ('waiting', 'sending')) AS waiting, sum(state = 'failed') AS failed
         FROM outbox WHERE gateway = ?`,
      )
      .get(gateway);
    return { waiting: Number(row?.waiting ?? 0), failed: Number(row?.failed ?? 0) };
  }

  prune(before: number): void {
    this.#db
      .prepare(`DELETE FROM outbox WHERE created_at < ? AND state NOT IN ('waiting', 'sending')`)
      .run(before);
  }
}

function outboxRow(row: SqlRow): OutboxRow {
  return {
    seq: Number(row.seq),
    uid: String(row.uid),
    createdAt: Number(row.created_at),
    state: String(row.state) as OutboxState,
    plain: row.plain === 1,
    part: JSON.parse(String(row.part)) as NewPart,
  };
}
