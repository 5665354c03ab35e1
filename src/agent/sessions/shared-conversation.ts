import type { Database, SqlRow } from "../../store/driver.js";
import type { SharedCopy } from "../../store/shared-log.js";
import { type AdoptedConversation, adoptInto, insertMessages } from "./adopt.js";
import { billsOf, insertToldBill, raisedLimit, raiseLimit } from "./bills.js";
import { conversationOf, newConversationId } from "./conversation-rows.js";
import { readMessages } from "./message-rows.js";
import type { Bill, NewMessage, StoredMessage } from "./types.js";

/**
 * A message as other machines know it. Its number differs from machine to machine, so a summary names the last message
 * that it covers by its place in the conversation, counted from 1.
 */
export type SharedMessage = NewMessage & { readonly at: number };

/** What happens to a conversation, for machines that may have to go on with it. */
export type ConversationChange =
  | {
      readonly kind: "whole";
      readonly conversation: Omit<AdoptedConversation, "messages">;
      readonly messages: readonly SharedMessage[];
      readonly bills: readonly Bill[];
      readonly budget: number | undefined;
    }
  | { readonly kind: "messages"; readonly messages: readonly SharedMessage[] }
  | { readonly kind: "about"; readonly title?: string | undefined; readonly model?: string | undefined }
  | { readonly kind: "bill"; readonly bill: Bill }
  | { readonly kind: "budget"; readonly usd: number }
  | { readonly kind: "deleted" };

export interface SharedConversationParts {
  readonly db: Database;
  readonly id: string;
  write<Result>(work: () => Result): Result;
  /** Messages have come or gone. */
  onChange(): void;
}

/** A conversation of this home as the cluster sees it. What it handed on is not shared: that is begun anew. */
export class SharedConversation implements SharedCopy<ConversationChange> {
  readonly kind = "talk";
  readonly id: string;
  readonly #parts: SharedConversationParts;
  readonly #db: Database;

  constructor(parts: SharedConversationParts) {
    this.#parts = parts;
    this.#db = parts.db;
    this.id = parts.id;
  }

  get about(): { readonly source: string; readonly owner: string } {
    const row = this.#row();
    return { source: String(row?.source ?? ""), owner: String(row?.owner ?? "") };
  }

  state(): { readonly seq: number; readonly isAhead: boolean } | undefined {
    // One statement: other processes write meanwhile.
    const row = this.#db
      .prepare(
        `SELECT coalesce(s.log_seq, 0) AS seq, coalesce(s.last_message, 0) AS told,
           coalesce((SELECT max(m.seq) FROM messages m WHERE m.conversation = c.seq), 0) AS last
         FROM conversations c LEFT JOIN shared s ON s.conversation = c.seq WHERE c.id = ?`,
      )
      .get(this.id);
    if (row === undefined) return undefined;
    return { seq: Number(row.seq), isAhead: row.seq === 0 || row.told !== row.last };
  }

  whole(): ConversationChange {
    const row = this.#existing();
    const root = Number(row.root);
    const stored = readMessages(this.#db, { conversation: Number(row.seq) });
    const { messages: _, updatedAt: __, state: ___, ...conversation } = conversationOf(row);
    return {
      kind: "whole",
      conversation,
      messages: this.shared(stored),
      bills: billsOf(this.#db, root),
      budget: raisedLimit(this.#db, `budget:${root}`),
    };
  }

  /** In the words of all machines. */
  shared(messages: readonly (NewMessage & { readonly at: number })[]): readonly SharedMessage[] {
    const conversation = Number(this.#existing().seq);
    return messages.map((message) => {
      const { id: _, ...said } = message as StoredMessage;
      return said.covers === undefined
        ? said
        : { ...said, covers: String(this.#placeOf(conversation, Number(said.covers))) };
    });
  }

  apply({
    from,
    to,
    changes,
    isAhead = false,
  }: Parameters<SharedCopy<ConversationChange>["apply"]>[0]): void {
    this.#parts.write(() => {
      // Another process of this home was faster.
      if ((this.state()?.seq ?? 0) !== from) return;
      if (isAhead) this.#keepApart();
      for (const change of changes) this.#apply(change);
      this.standAt(to);
    });
    if (changes.length > 0) this.#parts.onChange();
  }

  /** Within a transaction: everything that is here is told by that record. */
  standAt(seq: number): void {
    const row = this.#row();
    if (row === undefined) return;
    const conversation = Number(row.seq);
    this.#db
      .prepare("INSERT OR REPLACE INTO shared VALUES (?, ?, ?)")
      .run(conversation, seq, this.#lastMessage(conversation));
  }

  #keepApart(): void {
    const told = this.whole();
    if (told.kind !== "whole") return;
    const { conversation, messages } = told;
    const id = newConversationId(Date.now());
    const title = `${conversation.title} (went on without the cluster)`;
    adoptInto(this.#db, { ...conversation, id, title, messages: [] });
    this.#add(id, messages);
  }

  #apply(change: ConversationChange): void {
    switch (change.kind) {
      case "whole":
        this.#replace(change);
        break;
      case "messages":
        this.#add(this.id, change.messages);
        break;
      case "about": {
        const { seq, title, model } = this.#existing();
        this.#db
          .prepare("UPDATE conversations SET title = ?, model = ? WHERE seq = ?")
          .run(change.title ?? String(title), change.model ?? String(model), Number(seq));
        break;
      }
      case "bill":
        insertToldBill(this.#db, { ...change.bill, root: Number(this.#existing().root) });
        break;
      case "budget":
        raiseLimit(this.#db, `budget:${Number(this.#existing().root)}`, change.usd);
        break;
      case "deleted":
        this.#delete();
    }
  }

  #delete(): void {
    const row = this.#row();
    if (row === undefined) return;
    this.#removeMessages(Number(row.seq));
    this.#db.prepare("DELETE FROM conversations WHERE seq = ?").run(Number(row.seq));
  }

  #replace(told: Extract<ConversationChange, { kind: "whole" }>): void {
    if (!adoptInto(this.#db, { ...told.conversation, messages: [] })) {
      const conversation = Number(this.#existing().seq);
      this.#removeMessages(conversation);
      this.#db
        .prepare("UPDATE conversations SET title = ?, model = ?, messages = 0, bytes = 0 WHERE seq = ?")
        .run(told.conversation.title, told.conversation.model, conversation);
    }
    this.#add(this.id, told.messages);
    const root = Number(this.#existing().root);
    for (const bill of told.bills) insertToldBill(this.#db, { ...bill, root });
    if (told.budget !== undefined) raiseLimit(this.#db, `budget:${root}`, told.budget);
  }

  #add(id: string, messages: readonly SharedMessage[]): void {
    const conversation = Number(this.#existing(id).seq);
    insertMessages(this.#db, {
      conversation,
      messages,
      covers: (place) => String(this.#messageAt(conversation, Number(place))),
    });
  }

  #removeMessages(conversation: number): void {
    this.#db
      .prepare("INSERT INTO removed_messages (message) SELECT seq FROM messages WHERE conversation = ?")
      .run(conversation);
    this.#db.prepare("DELETE FROM messages WHERE conversation = ?").run(conversation);
    this.#db.prepare("DELETE FROM shared WHERE conversation = ?").run(conversation);
  }

  #lastMessage(conversation: number): number {
    const row = this.#db
      .prepare("SELECT max(seq) AS last FROM messages WHERE conversation = ?")
      .get(conversation);
    return Number(row?.last ?? 0);
  }

  #placeOf(conversation: number, message: number): number {
    const row = this.#db
      .prepare("SELECT count(*) AS place FROM messages WHERE conversation = ? AND seq <= ?")
      .get(conversation, message);
    return Number(row?.place);
  }

  #messageAt(conversation: number, place: number): number {
    const row = this.#db
      .prepare("SELECT seq FROM messages WHERE conversation = ? ORDER BY seq LIMIT 1 OFFSET ?")
      .get(conversation, place - 1);
    return Number(row?.seq ?? 0);
  }

  #row(id = this.id): SqlRow | undefined {
    return this.#db.prepare("SELECT * FROM conversations WHERE id = ?").get(id);
  }

  #existing(id = this.id): SqlRow {
    const row = this.#row(id);
    if (row === undefined) throw new Error(`${id} is gone`);
    return row;
  }
}
