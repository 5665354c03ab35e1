import type { Database, SqlRow } from "../../store/driver.js";
import { textOfBlob } from "../../store/driver.js";
import { ownerTag, roleTag, rootTag } from "./search-expression.js";
import { termsOf } from "./search-words.js";
import type { StoredMessage } from "./types.js";

/** Of a longer message only the beginning is found. */
const INDEXED_CHARS = 32_768;
/** Results of tools are long, many and rarely what is looked for. */
const INDEXED_RESULT_CHARS = 8_192;

/** Prompts are the same for all conversations, and summaries say again what others have said. */
const NOT_INDEXED: readonly StoredMessage["role"][] = ["system", "summary"];

/** Where calls stand; not where somebody put pictures of megabytes. */
export const CALLED = `iif(m.role = 'assistant' AND length(m.rest) < ${INDEXED_CHARS}, m.rest, NULL) AS rest`;

/** What the index holds of one message. */
export interface IndexedMessage {
  readonly message: number;
  readonly words: string;
  readonly characters: string;
  readonly tags: string;
}

/** The next messages of a range, in order, as many as `limit` says. */
export function messagesToIndex(
  messages: Database,
  range: { readonly after: number; readonly upTo: number; readonly limit: number },
): readonly IndexedMessage[] {
  return rowsOf(messages, range).map((row) => {
    const { words, characters } = termsOf(searchableText(row));
    return {
      message: Number(row.seq),
      words: [...words].join(" "),
      characters: [...characters].join(" "),
      tags: tagsOf(row).join(" "),
    };
  });
}

function rowsOf(
  messages: Database,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): readonly SqlRow[] {
  const skipped = NOT_INDEXED.map((role) => `'${role}'`).join(", ");
  return messages
    .prepare(
      `SELECT m.seq, m.role, c.owner, c.root,
         CAST(substr(m.text, 1, iif(m.role = 'tool', ${INDEXED_RESULT_CHARS}, ${INDEXED_CHARS})) AS BLOB) AS text,
         ${CALLED}
       FROM messages m JOIN conversations c ON c.seq = m.conversation
       WHERE m.seq > ? AND m.seq <= ? AND m.role NOT IN (${skipped}) ORDER BY m.seq LIMIT ?`,
    )
    .all(after, upTo, limit);
}

/** What a message says, and what it called with which arguments; of a row with `text` and `CALLED`. */
export function searchableText(row: SqlRow): string {
  const said = textOfBlob(row.text);
  return row.rest === null ? said : `${said} ${calledIn(String(row.rest))}`;
}

function calledIn(rest: string): string {
  try {
    const { toolCalls = [] } = JSON.parse(rest) as Pick<StoredMessage, "toolCalls">;
    return toolCalls
      .map(
        ({ name, arguments: given }) =>
          `${name} ${typeof given === "string" ? given : JSON.stringify(given)}`,
      )
      .join(" ");
  } catch {
    return "";
  }
}

function tagsOf(row: SqlRow): readonly string[] {
  return [roleTag(String(row.role)), ownerTag(String(row.owner)), rootTag(Number(row.root))];
}
