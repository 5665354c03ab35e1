import type { Database } from "../../store/driver.js";
import { titleOf } from "./conversation-rows.js";
import { columnsOf } from "./message-rows.js";
import type { Conversation, NewMessage } from "./types.js";

/** A conversation that was led elsewhere, with the id and the times it had there. */
export interface AdoptedConversation
  extends Pick<Conversation, "id" | "title" | "source" | "owner" | "model" | "cwd" | "parent" | "startedAt"> {
  readonly messages: readonly (NewMessage & { readonly at: number })[];
}

/** Within a transaction of the caller; false when a conversation of that id is here, which stays as it is. */
export function adoptInto(db: Database, conversation: AdoptedConversation): boolean {
  const { id, source, owner, model, cwd, parent, startedAt, messages } = conversation;
  const find = db.prepare("SELECT root FROM conversations WHERE id = ?");
  if (find.get(id) !== undefined) return false;
  const kin = parent === undefined ? undefined : find.get(parent);
  const { lastInsertRowid: seq } = db
    .prepare(
      `INSERT INTO conversations
         (id, title, source, owner, model, cwd, parent, root, started_at, updated_at, messages, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0)`,
    )
    .run(
      id,
      conversation.title,
      source,
      owner,
      model,
      cwd,
      kin === undefined ? null : (parent ?? null),
      startedAt,
      startedAt,
    );
  db.prepare("UPDATE conversations SET root = ? WHERE seq = ?").run(
    kin === undefined ? seq : Number(kin.root),
    seq,
  );
  insertMessages(db, { conversation: seq, messages });
  return true;
}

/** Within a transaction of the caller; with the numbers that they get here. */
export function insertMessages(
  db: Database,
  added: {
    readonly conversation: number;
    readonly messages: readonly (NewMessage & { readonly at: number })[];
    /** What a summary covers, in numbers of this home. */
    covers?(told: string): string;
  },
): readonly number[] {
  const { conversation, messages } = added;
  const insert = db.prepare(
    "INSERT INTO messages (conversation, role, at, text, rest) VALUES (?, ?, ?, ?, ?)",
  );
  let bytes = 0;
  const numbers = messages.map(({ at, ...message }) => {
    const { covers } = message;
    const said =
      covers === undefined || added.covers === undefined
        ? message
        : { ...message, covers: added.covers(covers) };
    const { role, text, rest } = columnsOf(said);
    bytes += Buffer.byteLength(text) + Buffer.byteLength(rest ?? "");
    return insert.run(conversation, role, at, text, rest).lastInsertRowid;
  });
  const latest = messages.reduce((sofar, { at }) => Math.max(sofar, at), 0);
  db.prepare(
    `UPDATE conversations SET messages = messages + ?, bytes = bytes + ?, updated_at = max(updated_at, ?),
       title = iif(title = '', ?, title) WHERE seq = ?`,
  ).run(messages.length, bytes, latest, titleOf(messages), conversation);
  return numbers;
}
