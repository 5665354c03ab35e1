import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";

const MOST_PAGES = 50;
export const MOST_TOOLS = 2_000;

/** What a server says about its tools, as it said it. */
export interface RawToolList {
  readonly tools: readonly unknown[];
  /** Why the list may be incomplete. */
  readonly cut: string | undefined;
  /** Milliseconds for which the list holds, when the server says so. */
  readonly ttlMs: number | undefined;
}

/**
 * Stands between a connection and the SDK and reads lists of tools before it does: the SDK gives up the whole list
 * for one malformed tool, and walks through pages that never end. It gets a plain list; we keep the real one.
 */
export class ToolListGuard {
  readonly #asked = new Set<unknown>();
  #tools: unknown[] = [];
  #cursors = new Set<string>();
  #pages = 0;
  #cut: string | undefined;
  #ttlMs: number | undefined;

  constructor(transport: Transport) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ("method" in message && message.method === "tools/list" && "id" in message)
        this.#asked.add(message.id);
      return send(message, options);
    };
    let handler: Transport["onmessage"] = transport.onmessage;
    Object.defineProperty(transport, "onmessage", {
      configurable: true,
      get: () => this.#reading(handler),
      set: (given: Transport["onmessage"]) => {
        handler = given;
      },
    });
  }

  /** Forgets what came before; a list is read from here on. */
  begin(): void {
    this.#tools = [];
    this.#cursors = new Set();
    this.#pages = 0;
    this.#cut = undefined;
    this.#ttlMs = undefined;
  }

  get list(): RawToolList {
    return { tools: this.#tools, cut: this.#cut, ttlMs: this.#ttlMs };
  }

  #reading(handler: Transport["onmessage"]): Transport["onmessage"] {
    if (handler === undefined || this.#asked.size === 0) return handler;
    return ((message: JSONRPCMessage, extra) => {
      if ("id" in message && this.#asked.delete(message.id) && "result" in message)
        this.#read(message.result);
      handler(message, extra);
    }) as NonNullable<Transport["onmessage"]>;
  }

  #read(result: unknown): void {
    if (!isRecord(result) || !Array.isArray(result.tools)) return;
    this.#pages += 1;
    if (this.#pages === 1 && typeof result.ttlMs === "number") this.#ttlMs = result.ttlMs;
    const room = MOST_TOOLS - this.#tools.length;
    if (result.tools.length > room) this.#cut = `it has more than ${MOST_TOOLS} tools`;
    const tools: readonly unknown[] = result.tools.slice(0, room);
    this.#tools.push(...tools);
    result.tools = tools.flatMap(plainTool);
    this.#turnPage(result);
  }

  #turnPage(result: Record<string, unknown>): void {
    const { nextCursor } = result;
    if (nextCursor === undefined) return;
    if (typeof nextCursor !== "string" || this.#cursors.has(nextCursor))
      this.#cut = "its list of tools leads back to a page that was there before";
    else if (this.#pages >= MOST_PAGES) this.#cut = `its list of tools has more than ${MOST_PAGES} pages`;
    else if (this.#cut === undefined) {
      this.#cursors.add(nextCursor);
      return;
    }
    delete result.nextCursor;
  }
}

/** What the SDK needs of a tool: its name, and its parameters only where they say which headers to send. */
function plainTool(tool: unknown): readonly { name: string; inputSchema: Record<string, unknown> }[] {
  if (!isRecord(tool) || typeof tool.name !== "string") return [];
  const { name, inputSchema } = tool;
  return [{ name, inputSchema: namesHeaders(inputSchema) ? inputSchema : { type: "object" } }];
}

function namesHeaders(schema: unknown): schema is Record<string, unknown> {
  if (!isRecord(schema) || schema.type !== "object") return false;
  try {
    return JSON.stringify(schema).includes('"x-mcp-header"');
  } catch {
    // Nested deeper than the stack goes; it is left out later, with a reason.
    return false;
  }
}
