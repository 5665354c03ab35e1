import type { SqlRow } from "../../store/driver.js";
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

/** For `messageOf`; damaged text may not be UTF-8, so it is read as bytes. */
export const MESSAGE_COLUMNS = "seq, role, at, CAST(text AS BLOB) AS text, CAST(rest AS BLOB) AS rest";

export function messageOf(row: SqlRow): StoredMessage {
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
