import type { CallToolResult, JSONRPCMessage, Progress } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { CallSignal } from "./running-call.js";

/** Whoever makes a call: told of its progress, and able to call it off. */
interface Caller {
  readonly signal: CallSignal;
  progress(progress: Progress): void;
}

interface Pending {
  readonly caller: Caller;
  readonly resolve: (result: CallToolResult) => void;
  readonly reject: (error: Error) => void;
}

export interface DirectCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** Told to the server as `_meta`. */
  readonly traceparent?: string | undefined;
}

/** The SDK counts its own requests from zero; some servers read ids into 32 bits. */
const FIRST_ID = 1_000_000_000;

/** The server refused a call. */
class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "Refused";
    this.code = code;
  }
}

/** There is nobody to answer any more. */
class ConnectionClosed extends Error {
  readonly code = "CONNECTION_CLOSED";
}

/**
 * Calls of tools in the older protocol, past the SDK: it parses each answer against several schemas and gives each
 * request a timer, which costs more than all the rest of a small call. What a server answers is read with care later.
 */
export class DirectCalls {
  readonly #post: (message: JSONRPCMessage) => Promise<void> | undefined;
  readonly #pending = new Map<number, Pending>();
  #nextId = FIRST_ID;

  /** `post` sends a message and throws when it cannot. */
  constructor(post: (message: JSONRPCMessage) => Promise<void> | undefined) {
    this.#post = post;
  }

  call(tool: DirectCall, caller: Caller): Promise<CallToolResult> {
    const { signal } = caller;
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw new Error(String(signal.reason));
      const id = this.#nextId++;
      const { traceparent } = tool;
      const trace = traceparent === undefined ? {} : { traceparent };
      this.#post({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: tool.name, arguments: tool.arguments, _meta: { progressToken: id, ...trace } },
      });
      this.#pending.set(id, { caller, resolve, reject });
      signal.addEventListener("abort", () => this.#cancel(id, String(signal.reason)));
    });
  }

  /** Takes up what belongs to one of the calls; false for everything else. */
  take(message: JSONRPCMessage): boolean {
    if (this.#pending.size === 0) return false;
    if ("method" in message)
      return message.method === "notifications/progress" && this.#progress(message.params);
    const id = Number(message.id);
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    this.#pending.delete(id);
    const { result, error } = message as { readonly result?: unknown; readonly error?: unknown };
    if (isRecord(result)) pending.resolve(result as CallToolResult);
    else pending.reject(refusal(error));
    return true;
  }

  closed(): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new ConnectionClosed("the connection was closed"));
  }

  #progress(params: unknown): boolean {
    if (!isRecord(params)) return false;
    const pending = this.#pending.get(Number(params.progressToken));
    if (pending === undefined) return false;
    if (typeof params.progress === "number") pending.caller.progress(params as unknown as Progress);
    return true;
  }

  #cancel(id: number, reason: string): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.reject(new Error(reason));
    try {
      this.#post({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason },
      });
    } catch {
      // Nobody is there to be told.
    }
  }
}

function refusal(error: unknown): Refused {
  const { code, message } = isRecord(error) ? error : {};
  return new Refused(Number(code), typeof message === "string" ? message : "it gave no reason");
}
