import type { Database, SqlRow } from "../../store/driver.js";
import { textOfBlob } from "../../store/driver.js";
import { textOf } from "../../tool/content.js";
import type { NewMessage, StoredMessage } from "./types.js";

export interface MessageColumns {
  readonly role: string;
  readonly text: string;
  readonly rest: string | null;
}

/** Columns of a message; what comes back is equal to what was given. */
export function columnsOf(message: NewMessage): MessageColumns {
  const { role, content, ...others } = message;
  const isPlain = typeof content === "string" && !UNSTORABLE.test(content);
  const rest = JSON.stringify(isPlain ? others : { content, ...others });
  return {
    role,
    text: typeof content === "string" ? content : textOf(content),
    rest: rest === "{}" ? null : rest,
  };
}

/** A column of text ends at the first and cannot hold the second; JSON writes both out. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Damaged text may not be UTF-8, so it is read as bytes. */
const COLUMNS = "seq, role, at, CAST(text AS BLOB) AS text, CAST(rest AS BLOB) AS rest";

/** Messages of one conversation between two of them, in order; `fromEnd` takes the last where there are more. */
export function readMessages(
  db: Database,
  range: {
    readonly conversation: number;
    readonly after?: string | undefined;
    readonly before?: string | undefined;
    readonly limit?: number | undefined;
    readonly fromEnd?: boolean;
  },
): readonly StoredMessage[] {
  const { conversation, after, before, limit = -1, fromEnd = false } = range;
  const rows = db
    .prepare(
      `SELECT ${COLUMNS} FROM messages WHERE conversation = ? AND seq > ? AND seq < ?
       ORDER BY seq ${fromEnd ? "DESC" : "ASC"} LIMIT ?`,
    )
    .all(conversation, numberOf(after) ?? 0, numberOf(before) ?? Number.MAX_SAFE_INTEGER, limit);
  const messages = rows.map(messageOf);
  return fromEnd ? messages.reverse() : messages;
}

function numberOf(message: string | undefined): number | undefined {
  const number = Number(message);
  return Number.isSafeInteger(number) ? number : undefined;
}

function messageOf(row: SqlRow): StoredMessage {
  const rest: Partial<StoredMessage> = row.rest === null ? {} : readRest(textOfBlob(row.rest));
  return {
    id: String(row.seq),
    role: row.role as StoredMessage["role"],
    content: textOfBlob(row.text),
    ...rest,
    at: Number(row.at),
  };
}

/** One damaged row must not hide the others of its conversation. */
function readRest(json: string): Partial<StoredMessage> {
  try {
    return JSON.parse(json) as Partial<StoredMessage>;
  } catch {
    return {};
  }
}
