import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { drained } from "../../sources/mcp/drained.js";
import { MessageLines } from "../../sources/mcp/message-lines.js";

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
export class LineTransport implements Transport {
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
