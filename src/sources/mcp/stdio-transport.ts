import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { within } from "../../base/deadline.js";
import { endWithThisProcess } from "../../env/local/process-tree.js";
import { DirectCalls } from "./direct-calls.js";
import { drained } from "./drained.js";
import { MessageLines } from "./message-lines.js";
import type { RunningProgram, ServerProgram, ServerPrograms } from "./server-programs.js";

export interface StdioOptions {
  readonly program: ServerProgram;
  readonly programs: ServerPrograms;
  readonly onStderr: (chunk: string) => void;
}

/** A program that floods us is read at this pace, so that it cannot slow the other servers down. */
const MESSAGES_PER_WINDOW = 1_000;
const STDERR_BYTES_PER_WINDOW = 65_536;
/** After its end, what a program has written last is still on its way for a moment. */
const LAST_WORDS_MS = 100;
/** A program whose input is closed may end by itself. */
const LEAVING_MS = 300;

/**
 * Starts a server program and talks to it over its standard input and output. Unlike the SDK's own transport it
 * tells of the program's end at once, and ends everything the program has started.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  /** How the program ended, once it has. */
  ending: string | undefined;
  /** Why the program never ran. */
  failure: Error | undefined;
  /** For servers of the older protocol. */
  readonly calls = new DirectCalls((message) => this.#post(message));

  readonly #options: StdioOptions;
  #child: RunningProgram | undefined;
  #hasEnded = false;
  #unwatch: () => void = () => undefined;
  #ended: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #told = false;
  /** What all who have written too much wait for. */
  #drained: Promise<void> | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** With `pid` this is how the SDK knows a server program from a network server. */
  get stderr(): null {
    return null;
  }

  async start(): Promise<void> {
    const { program, programs } = this.#options;
    try {
      const child = await programs.start(program);
      this.#child = child;
      this.#unwatch = endWithThisProcess(child.pid);
      this.#listen(child);
    } catch (error) {
      this.#tellClosed();
      throw error;
    }
    // Whoever wanted it may have given up meanwhile.
    if (this.#closing !== undefined) await this.#end();
  }

  #listen(child: RunningProgram): void {
    const messages = new RateWindow(child.stdout, MESSAGES_PER_WINDOW);
    const complaints = new RateWindow(child.stderr, STDERR_BYTES_PER_WINDOW);
    const lines = new MessageLines({
      onMessage: (message) => this.#receive(message),
      onNonsense: (line) => this.#options.onStderr(`[stdout] ${line.slice(0, 500)}\n`),
    });
    const take = (chunk: Buffer) => {
      try {
        messages.count(lines.add(chunk));
      } catch (error) {
        // Nothing it says from now on counts; its pipe is only kept from filling up.
        child.stdout.off("data", take).resume();
        this.ending ??= (error as Error).message;
        this.onerror?.(error as Error);
        void this.close();
      }
    };
    child.stdout.on("data", take);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      complaints.count(chunk.length);
      this.#options.onStderr(chunk);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on("error", (error: Error) => this.onerror?.(error));
    this.#ended = new Promise((resolve) => {
      void child.ended.then(({ how, failure }) => {
        this.#hasEnded = true;
        this.failure = failure;
        this.ending ??= how;
        messages.stop();
        complaints.stop();
        const finish = () => {
          this.#tellClosed();
          resolve();
        };
        if (child.stdout.closed) return finish();
        // Programs it has left behind may hold the pipe open for ever.
        const patience = setTimeout(finish, LAST_WORDS_MS);
        child.stdout.resume();
        child.stdout.once("close", () => {
          clearTimeout(patience);
          finish();
        });
      });
    });
    void this.#ended.then(() => this.close());
  }

  /** What goes wrong with one message is not the fault of the stream it came in. */
  #receive(message: JSONRPCMessage): void {
    try {
      if (!this.calls.take(message)) this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #tellClosed(): void {
    if (this.#told) return;
    this.#told = true;
    this.calls.closed();
    this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#post(message);
  }

  /** A promise when whoever writes more should wait for it. */
  #post(message: JSONRPCMessage): Promise<void> | undefined {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) throw new Error("the server program is not running");
    if (stdin.write(`${JSON.stringify(message)}\n`)) return undefined;
    this.#drained ??= drained(stdin).finally(() => {
      this.#drained = undefined;
    });
    return this.#drained;
  }

  /** Resolves when nothing of the program is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) {
      this.#tellClosed();
      return;
    }
    child.stdin.end();
    if (!this.#hasEnded && this.#ended !== undefined) await within(this.#ended, LEAVING_MS);
    await child.end();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#unwatch();
    this.#tellClosed();
  }
}

const WINDOW_MS = 50;

/** Reads a stream no faster than so much per moment; whoever writes more has to wait, and nobody else does. */
class RateWindow {
  readonly #stream: Readable;
  readonly #most: number;
  #used = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Readable, mostPerWindow: number) {
    this.#stream = stream;
    this.#most = mostPerWindow;
  }

  count(amount: number): void {
    const now = performance.now();
    if (now - this.#since > WINDOW_MS) {
      this.#since = now;
      this.#used = 0;
    }
    this.#used += amount;
    if (this.#used <= this.#most || this.#timer !== undefined) return;
    this.#stream.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#stream.resume();
    }, WINDOW_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
