import type { NewMessage } from "../../agent/sessions/types.js";
import { isRecord } from "../../base/record.js";
import { type Database, type SqlRow, textOfBlob } from "../../store/driver.js";
import type { IncomingCall } from "../../tool/call.js";
import type { Content } from "../../tool/content.js";

export type DatedMessage = NewMessage & { readonly at: number };

export interface OriginalMessages {
  readonly messages: readonly DatedMessage[];
  /** Rows that are no words of the conversation, by their roles. */
  readonly left: readonly string[];
}

/** Content that is no plain text is marked so, and is JSON behind it. */
const JSON_MARK = "\0json:";

/** Text may hold NUL characters, which SQLite gives only as bytes. */
const TEXTS = ["content", "tool_calls"] as const;

/**
 * The messages of one session of the original as a person saw them. What was taken back there is left out. What was
 * condensed is there twice, as it was and again where the talk went on: the first counts, and the summary is not needed.
 */
export function originalMessages(db: Database, session: string): OriginalMessages {
  const known = new Set(
    db
      .prepare("PRAGMA table_info(messages)")
      .all()
      .map(({ name }) => String(name)),
  );
  const or = (column: string, otherwise: string) =>
    known.has(column) ? column : `${otherwise} AS ${column}`;
  const rows = db
    .prepare(
      `SELECT role, timestamp, tool_call_id, ${or("tool_name", "NULL")}, ${or("active", "1")},
         ${or("compacted", "0")}, ${or("_compressed_summary", "0")},
         ${TEXTS.map((column) => `CAST(${column} AS BLOB) AS ${column}`).join(", ")}
       FROM messages WHERE session_id = ? ORDER BY id`,
    )
    .all(session);
  const shown = rows.filter((row) => row.active === 1 || row.compacted === 1);
  const hasCondensed = shown.some((row) => row.compacted === 1);
  const seen = new Set(shown.filter((row) => row.compacted === 1).map(signOf));
  const messages: DatedMessage[] = [];
  const left: string[] = [];
  for (const row of shown) {
    if (hasCondensed && (row._compressed_summary === 1 || (row.compacted !== 1 && seen.has(signOf(row)))))
      continue;
    const message = messageOf(row);
    if (message === undefined) left.push(String(row.role));
    else messages.push(message);
  }
  return { messages, left };
}

function signOf(row: SqlRow): string {
  return JSON.stringify([
    row.role,
    row.timestamp,
    row.tool_call_id,
    ...TEXTS.map((column) => textOfBlob(row[column])),
  ]);
}

function messageOf(row: SqlRow): DatedMessage | undefined {
  const at = timeOf(row.timestamp);
  const content = contentOf(textOfBlob(row.content));
  switch (row.role) {
    case "user":
      return { role: "user", content, at };
    case "assistant": {
      const toolCalls = callsOf(textOfBlob(row.tool_calls));
      return { role: "assistant", content, ...(toolCalls.length > 0 && { toolCalls }), at };
    }
    case "tool": {
      const name = typeof row.tool_name === "string" ? { name: row.tool_name } : {};
      return { role: "tool", content, toolCallId: String(row.tool_call_id ?? ""), ...name, at };
    }
    default:
      return undefined;
  }
}

/** Seconds since 1970, with a fraction. */
export function timeOf(seconds: unknown): number {
  const ms = Math.round(Number(seconds) * 1_000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : 0;
}

function contentOf(text: string): string | readonly Content[] {
  if (!text.startsWith(JSON_MARK)) return text;
  const parts = parsed(text.slice(JSON_MARK.length));
  return Array.isArray(parts) ? parts.map(partOf) : JSON.stringify(parts ?? "");
}

function partOf(part: unknown): Content {
  if (isRecord(part)) {
    if (typeof part.text === "string") return { type: "text", text: part.text };
    const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
    const [, mimeType, data] =
      /^data:([\w/+.-]+);base64,(.*)$/s.exec(typeof url === "string" ? url : "") ?? [];
    if (mimeType !== undefined && data !== undefined) return { type: "image", data, mimeType };
    if (typeof url === "string") return { type: "text", text: `[picture ${url}]` };
  }
  return { type: "text", text: JSON.stringify(part) };
}

function callsOf(json: string): readonly IncomingCall[] {
  const calls = json === "" ? [] : parsed(json);
  if (!Array.isArray(calls)) return [];
  return calls.filter(isRecord).flatMap((call) => {
    const made = isRecord(call.function) ? call.function : call;
    if (typeof made.name !== "string") return [];
    return [
      { id: String(call.id ?? call.call_id ?? ""), name: made.name, arguments: made.arguments ?? "{}" },
    ];
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
