import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** One message may be large (a file, an image), but not so large that it fills the memory. */
export const LONGEST_MESSAGE = 64 * 1024 * 1024;
/** So much that is no message, with no message in between, and the other side does not speak the protocol. */
const MOST_NONSENSE = 1024 * 1024;
const NEW_LINE = 10;

export interface LineReader {
  readonly onMessage: (message: JSONRPCMessage) => void;
  /** A line that is no message. */
  readonly onNonsense: (line: string) => void;
}

/** Takes messages, one per line, out of what a server writes; what is no message is told and passed over. */
export class MessageLines {
  readonly #reader: LineReader;
  #parts: Buffer[] = [];
  #size = 0;
  #nonsense = 0;

  constructor(reader: LineReader) {
    this.#reader = reader;
  }

  /** How many lines were in it, messages or not. Throws when the other side cannot be listened to any longer. */
  add(chunk: Buffer): number {
    let found = 0;
    let start = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
      found += this.#line(this.#whole(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#parts.push(start === 0 ? chunk : chunk.subarray(start));
      this.#size += chunk.length - start;
      if (this.#size > LONGEST_MESSAGE)
        throw new Error(`it sent a message of more than ${LONGEST_MESSAGE / 1024 / 1024} MB`);
    }
    return found;
  }

  #whole(last: Buffer): string {
    if (this.#parts.length === 0) return last.toString("utf8");
    const line = Buffer.concat([...this.#parts, last]).toString("utf8");
    this.#parts = [];
    this.#size = 0;
    return line;
  }

  #line(line: string): number {
    if (line === "" || line === "\r") return 1;
    const message = parse(line);
    if (message === undefined) {
      this.#nonsense += line.length;
      this.#reader.onNonsense(line);
      if (this.#nonsense > MOST_NONSENSE)
        throw new Error("it writes what is no message to its standard output");
      return 1;
    }
    this.#nonsense = 0;
    this.#reader.onMessage(message);
    return 1;
  }
}

/** Behind what JSON takes for blanks. */
const OBJECT = /^[ \t\r]*\{/;

function parse(line: string): JSONRPCMessage | undefined {
  // An error for each line of a flood would cost more than the rest of its way.
  if (!OBJECT.test(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null || !("jsonrpc" in value) || value.jsonrpc !== "2.0")
    return false;
  const { id, method, result, error } = value as Record<string, unknown>;
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number") return false;
  if (method !== undefined) return typeof method === "string";
  return id !== undefined && (isObject(result) || isObject(error));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
