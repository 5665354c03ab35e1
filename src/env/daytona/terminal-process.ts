import { randomBytes } from "node:crypto";
import type { WebSocket } from "undici";
import { deferred } from "../../base/deferred.js";
import type { TerminalSize } from "../environment.js";
import type { TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";
import { terminalScript } from "./scripts.js";
import type { Toolbox } from "./toolbox.js";

/** The service refuses larger messages and larger terminals. */
const MESSAGE_BYTES = 32_768;
const MAX_SIZE = 1000;
const CONNECT_LIMIT_MS = 20_000;
const END_OF_FILE = "\u0004";

export interface TerminalProcessOptions {
  readonly toolbox: Toolbox;
  readonly request: TransportStart & { readonly pty: TerminalSize };
  whyLost(error: unknown): Promise<string>;
}

/**
 * One program in a terminal of the service. The service only offers a login shell there, so the program is
 * started by a line typed into it. Marks before and after the program's output keep the shell's own words out of
 * it, and bring the exit code in order after the last byte.
 */
export class TerminalProcess implements TransportProcess {
  readonly ended: Promise<TransportEnd>;
  readonly #options: TerminalProcessOptions;
  readonly #id: string;
  readonly #socket: WebSocket;
  readonly #output: MarkedOutput;
  #finish: (end: TransportEnd) => void = () => {};
  #over = false;
  /** While paused; the service gives up a client that does not read, so everything is taken. */
  #held: Uint8Array[] | undefined;

  private constructor(
    options: TerminalProcessOptions,
    made: { id: string; socket: WebSocket; mark: string },
  ) {
    this.#options = options;
    this.#id = made.id;
    this.#socket = made.socket;
    this.#output = new MarkedOutput(made.mark);
    this.ended = new Promise((resolve) => {
      this.#finish = (end) => {
        if (this.#over) return;
        this.pauseOutput(false);
        this.#over = true;
        options.toolbox.tidy(options.toolbox.deleteTerminal(this.#id).finally(() => this.#socket.close()));
        resolve(end);
      };
    });
    made.socket.addEventListener("message", ({ data }) => this.#take(data));
    made.socket.addEventListener("close", ({ reason }) => void this.#closed(reason));
  }

  static async start(options: TerminalProcessOptions): Promise<TerminalProcess> {
    const { toolbox, request } = options;
    const id = `hermes-${randomBytes(8).toString("hex")}`;
    const mark = randomBytes(8).toString("hex");
    const file = `/tmp/.${id}`;
    await toolbox.run(`umask 077; cat > ${file} <<'${mark}'\n${terminalScript(request.argv, mark)}${mark}`);
    await toolbox.createTerminal({ id, ...limited(request.pty) });
    const socket = await connect(toolbox, id);
    const process = new TerminalProcess(options, { id, socket, mark });
    process.#send(` exec sh ${file}\r`);
    if (request.stdin !== undefined && request.stdin !== "open") void process.write(request.stdin);
    return process;
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#output.begun;
    this.#send(data);
  }

  closeInput(): Promise<void> {
    return this.write(END_OF_FILE);
  }

  resize(size: TerminalSize): void {
    if (!this.#over) void this.#options.toolbox.resizeTerminal(this.#id, limited(size)).catch(() => {});
  }

  pauseOutput(paused: boolean): void {
    if (paused) this.#held ??= [];
    else if (this.#held !== undefined) {
      const held = this.#held;
      this.#held = undefined;
      for (const bytes of held) this.#options.request.onStdout(bytes);
    }
  }

  abandon(): void {
    this.#finish({ lost: "it was let go before it had ended" });
  }

  #send(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    for (let from = 0; from < bytes.length && !this.#over; from += MESSAGE_BYTES)
      this.#socket.send(bytes.subarray(from, from + MESSAGE_BYTES));
  }

  #take(data: unknown): void {
    if (this.#over || typeof data === "string") return;
    const { bytes, exitCode } = this.#output.take(new Uint8Array(data as ArrayBuffer));
    if (bytes.length > 0) {
      if (this.#held === undefined) this.#options.request.onStdout(bytes);
      else this.#held.push(bytes);
    }
    if (exitCode !== undefined) this.#finish({ exitCode });
  }

  async #closed(reason: string): Promise<void> {
    this.#output.over();
    if (this.#over) return;
    const exitCode = exitCodeIn(reason);
    if (exitCode !== undefined) this.#finish({ exitCode });
    else this.#finish({ lost: await this.#options.whyLost(new Error("the terminal's connection ended")) });
  }
}

function limited({ columns, rows }: TerminalSize): { readonly cols: number; readonly rows: number } {
  return { cols: Math.min(columns, MAX_SIZE), rows: Math.min(rows, MAX_SIZE) };
}

/** Resolves when the service says that it is connected. */
async function connect(toolbox: Toolbox, id: string): Promise<WebSocket> {
  const { WebSocket } = await import("undici");
  const socket = new WebSocket(`${toolbox.url.replace(/^http/, "ws")}/process/pty/${id}/connect`, {
    headers: toolbox.api.headers,
    dispatcher: await toolbox.api.agent(),
  });
  socket.binaryType = "arraybuffer";
  return await new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(limit);
      socket.close();
      reject(new Error(why));
    };
    const limit = setTimeout(() => fail("the terminal did not answer"), CONNECT_LIMIT_MS);
    socket.addEventListener("error", () => fail("the terminal could not be reached"), { once: true });
    socket.addEventListener("close", () => fail("the terminal was closed"), { once: true });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") return;
      const { type, status, error } = JSON.parse(data) as Record<string, string>;
      if (type !== "control") return;
      if (status === "error") fail(error ?? "the terminal was refused");
      clearTimeout(limit);
      resolve(socket);
    });
  });
}

function exitCodeIn(reason: string): number | undefined {
  try {
    const { exitCode } = JSON.parse(reason) as { exitCode?: unknown };
    return typeof exitCode === "number" ? exitCode : undefined;
  } catch {
    return undefined;
  }
}

const MARK = 0x1e;

/**
 * Finds a program's own output between two marks that nothing else prints: `<RS>word+<RS>` before it and
 * `<RS>word3<RS>` after it, where 3 is the exit code.
 */
class MarkedOutput {
  /** Resolves with the first mark, or when there will be none. */
  readonly begun: Promise<void>;
  readonly #word: string;
  readonly #begin = deferred<void>();
  #hasBegun = false;
  #kept: Buffer = Buffer.alloc(0);

  constructor(word: string) {
    this.#word = word;
    this.begun = this.#begin.promise;
  }

  /** The program's bytes among these, and its exit code when it is over. */
  take(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly exitCode?: number } {
    this.#kept = Buffer.concat([this.#kept, bytes]);
    if (!this.#hasBegun && !this.#skipToBegin()) return { bytes: new Uint8Array() };
    const end = this.#kept.indexOf(`\u001e${this.#word}`);
    const close = end === -1 ? -1 : this.#kept.indexOf(MARK, end + 1);
    if (close !== -1) {
      const exitCode = Number(this.#kept.subarray(end + 1 + this.#word.length, close).toString());
      return { bytes: this.#give(end), exitCode };
    }
    return { bytes: this.#give(this.#couldBeMark(end)) };
  }

  over(): void {
    this.#begin.resolve();
  }

  #skipToBegin(): boolean {
    const begin = `\u001e${this.#word}+\u001e`;
    const at = this.#kept.indexOf(begin);
    if (at === -1) return false;
    this.#kept = this.#kept.subarray(at + begin.length);
    this.#hasBegun = true;
    this.#begin.resolve();
    return true;
  }

  /** Where a mark may begin whose rest has not arrived yet. */
  #couldBeMark(end: number): number {
    if (end !== -1) return end;
    const last = this.#kept.lastIndexOf(MARK);
    const isBeginning =
      last !== -1 && this.#word.startsWith(this.#kept.subarray(last + 1).toString("latin1"));
    return isBeginning ? last : this.#kept.length;
  }

  #give(upTo: number): Uint8Array {
    const given = this.#kept.subarray(0, upTo);
    this.#kept = this.#kept.subarray(upTo);
    return given;
  }
}
