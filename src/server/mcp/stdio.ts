import type { Readable, Writable } from "node:stream";
import type { CallToolResult, JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Runtime } from "../../runtime/runtime.js";
import { drained } from "../../sources/mcp/drained.js";
import { MessageLines } from "../../sources/mcp/message-lines.js";
import { RunningRequests } from "../running-requests.js";
import { HeldCalls } from "./held-calls.js";
import { McpSession } from "./mcp-session.js";
import { createToolServer, type McpDoor } from "./tool-server.js";

/**
 * Calls that are stopped get this long to end what they have started. Clients kill a server that is still there two
 * seconds after its input was closed.
 */
const STOPPING_MS = 1_400;

/** Speaks MCP over two streams until the client closes them or `signal` says so. */
export async function serveMcpOverStreams(options: {
  readonly runtime: Runtime;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { runtime, input, output, signal } = options;
  const [sdk, { serveStdio }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const running = new RunningRequests();
  const door: McpDoor = {
    runtime,
    session: new McpSession(runtime, { own: true }),
    ownSession: true,
    // Whoever started this process is the owner.
    mayApprove: true,
    unattended: runtime.approvals.unattended(),
    held: new HeldCalls<CallToolResult>(),
    principal: "owner",
    run: (request, work) => running.run(request, work),
  };
  const transport = new LineTransport({ input, output });
  try {
    // A toolset or profile that does not exist is a mistake to report now, not with the first call.
    await door.session.current();
    await new Promise<void>((resolve) => {
      const handle = serveStdio(
        ({ era }) => {
          const server = createToolServer(door, { sdk, era });
          const stop = door.session.onToolsChanged(() => {
            server.sendToolListChanged().catch(() => undefined);
          });
          server.onclose = stop;
          return server;
        },
        {
          transport,
          onerror: (error) => runtime.log.warn(`MCP client: ${error.message}`),
        },
      );
      const leave = transport.onclose;
      transport.onclose = () => {
        leave?.();
        resolve();
      };
      const close = () => void handle.close().then(resolve, () => resolve());
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
    });
  } finally {
    running.abortAll();
    door.held.close();
    await running.idle(STOPPING_MS);
    door.session.close();
  }
}

/** JSON-RPC wants `null` where it cannot be known which request is meant. */
const NO_MESSAGE = {
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_700, message: "Parse error: each line must be one JSON-RPC message" },
};

/**
 * Messages over two streams, one per line. Unlike the SDK's own transport it reads a long line in a time that grows
 * with its length and not with its square, and a line that is no message is answered.
 */
class LineTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines = new MessageLines({
    onMessage: (message) => this.onmessage?.(message as JSONRPCMessage),
    onNonsense: () => {
      this.onerror?.(new Error("it sent a line that is no message"));
      this.#write(NO_MESSAGE);
    },
  });
  #closed = false;
  /** What all who have written too much wait for. */
  #drained: Promise<void> | undefined;

  constructor({ input, output }: { readonly input: Readable; readonly output: Writable }) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input
      .on("data", this.#take)
      .on("error", this.#fail)
      .on("end", this.#leave)
      .on("close", this.#leave);
    this.#output.on("error", this.#fail);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#leave);
  }

  /** Resolves when there is room for more. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the client has gone");
    if (this.#write(message)) return;
    this.#drained ??= drained(this.#output).finally(() => {
      this.#drained = undefined;
    });
    await this.#drained;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#take).off("end", this.#leave).off("close", this.#leave);
    this.#input.pause();
    this.onclose?.();
  }

  #write(message: object): boolean {
    return this.#output.write(`${JSON.stringify(message)}\n`);
  }

  readonly #take = (chunk: Buffer): void => {
    try {
      this.#lines.add(chunk);
    } catch (error) {
      this.#fail(error as Error);
    }
  };

  /** Listened to for ever: what is still on its way when the client goes must not be an uncaught error. */
  readonly #fail = (error: Error): void => {
    if (this.#closed) return;
    this.onerror?.(error);
    void this.close();
  };

  readonly #leave = (): void => void this.close();
}
