import type { ContainerProcess } from "modal";
import { deferred } from "../../base/deferred.js";
import { PauseSwitch } from "../cloud/cloud-environment.js";
import type { TerminalSize } from "../environment.js";
import type { TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";

/** The service refuses larger pieces of input. */
const INPUT_PIECE_BYTES = 1_048_576;
const END_OF_FILE = "\u0004";

export interface ModalProcessOptions {
  readonly program: ContainerProcess<Uint8Array>;
  readonly request: TransportStart;
  /** Why a program whose streams broke, or that was killed, is lost; undefined when it just ended. */
  whyLost(error: unknown): Promise<string | undefined>;
  /** Changes the size of the terminal with this name. */
  resizeTerminal(terminal: string, size: TerminalSize): void;
}

/** One running program of a sandbox, as the remote layer wants it. */
export class ModalProcess implements TransportProcess {
  readonly ended: Promise<TransportEnd>;
  readonly #options: ModalProcessOptions;
  readonly #input: WritableStreamDefaultWriter<Uint8Array | string>;
  readonly #terminal: TerminalStart | undefined;
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  #exitCode: number | undefined;
  #over = false;
  readonly #paused = new PauseSwitch();
  #finish: (end: TransportEnd) => void = () => {};

  constructor(options: ModalProcessOptions) {
    this.#options = options;
    const { program, request } = options;
    this.#input = program.stdin.getWriter();
    // Writing to a program that has ended is not an error.
    this.#input.closed.catch(() => {});
    this.#terminal = request.pty === undefined ? undefined : new TerminalStart();
    this.ended = new Promise((resolve) => {
      this.#finish = (end) => {
        this.#over = true;
        resolve(end);
      };
    });
    void this.#follow();
    if (request.stdin === undefined) void this.closeInput();
    else if (request.stdin !== "open") void this.#giveAll(request.stdin);
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#terminal?.shown;
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let from = 0; from < bytes.length && !this.#over; from += INPUT_PIECE_BYTES)
      await this.#input.write(bytes.subarray(from, from + INPUT_PIECE_BYTES)).catch(() => {});
  }

  async closeInput(): Promise<void> {
    if (this.#terminal !== undefined) await this.write(END_OF_FILE);
    else await this.#input.close().catch(() => {});
  }

  resize(size: TerminalSize): void {
    void this.#terminal?.shown.then((name) => {
      if (name !== undefined && !this.#over) this.#options.resizeTerminal(name, size);
    });
  }

  pauseOutput(paused: boolean): void {
    this.#paused.set(paused);
  }

  abandon(): void {
    if (this.#over) return;
    this.#finish(
      this.#exitCode === undefined
        ? { lost: "it was let go before it had ended" }
        : { exitCode: this.#exitCode },
    );
    this.pauseOutput(false);
    // Not awaited: the client can only stop reading when the next bytes arrive.
    for (const reader of this.#readers) void reader.cancel().catch(() => {});
  }

  async #giveAll(stdin: string | Uint8Array): Promise<void> {
    await this.write(stdin);
    if (this.#terminal === undefined) await this.closeInput();
  }

  async #follow(): Promise<void> {
    const { program, request } = this.#options;
    const exit = program.wait().then((code) => {
      this.#exitCode = code;
      return code;
    });
    try {
      const [code] = await Promise.all([
        exit,
        this.#read(program.stdout, (bytes) => {
          const shown = this.#terminal === undefined ? bytes : this.#terminal.take(bytes);
          if (shown.length > 0) request.onStdout(shown);
        }),
        ...(request.pty === undefined ? [this.#read(program.stderr, request.onStderr)] : []),
      ]);
      // A sandbox that is taken away kills its programs first.
      const lost = code >= 128 ? await this.#options.whyLost(undefined) : undefined;
      this.#finish(lost === undefined ? { exitCode: code } : { lost });
    } catch (error) {
      exit.catch(() => {});
      if (this.#over) return;
      const lost = await this.#options.whyLost(error);
      this.#finish({ lost: lost ?? String(error) });
    } finally {
      this.#terminal?.over();
    }
  }

  async #read(stream: ReadableStream<Uint8Array>, deliver: (bytes: Uint8Array) => void): Promise<void> {
    const reader = stream.getReader();
    this.#readers.push(reader);
    for (;;) {
      await this.#paused.passed();
      const { done, value } = await reader.read();
      if (done) return;
      if (!this.#over) deliver(value);
    }
  }
}

const MARK = 0x1e;
/** No terminal's name is longer. */
const MAX_HEAD_BYTES = 4096;

/**
 * The service gives every terminal the same size and cannot change it, so a program is started by a line that
 * sets the size first and tells the terminal's name, by which it can be changed later.
 */
export function inSizedTerminal(argv: readonly string[], size: TerminalSize): string[] {
  const resized = `stty rows ${size.rows} cols ${size.columns} 2>/dev/null`;
  const script = `${resized}; printf '\\036%s\\036' "$(tty)"; exec "$@"`;
  return ["sh", "-c", script, "sh", ...argv];
}

export function resizeCommand(terminal: string, size: TerminalSize): string[] {
  return ["stty", "-F", terminal, "rows", String(size.rows), "cols", String(size.columns)];
}

/** Takes the terminal's name out of the first bytes of its output. */
class TerminalStart {
  /** The terminal's name; undefined when the program ended before it was told. */
  readonly shown: Promise<string | undefined>;
  readonly #name = deferred<string | undefined>();
  #head: Uint8Array | undefined = new Uint8Array();

  constructor() {
    this.shown = this.#name.promise;
  }

  /** The bytes that are the program's own. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#head === undefined) return bytes;
    const head = Buffer.concat([this.#head, bytes]);
    const first = head.indexOf(MARK);
    const second = first === -1 ? -1 : head.indexOf(MARK, first + 1);
    if (second === -1 && head.length < MAX_HEAD_BYTES) {
      this.#head = head;
      return new Uint8Array();
    }
    this.#head = undefined;
    const name = second === -1 ? "" : head.subarray(first + 1, second).toString();
    this.#name.resolve(name.startsWith("/dev/") ? name : undefined);
    return second === -1 ? head : head.subarray(second + 1);
  }

  over(): void {
    this.#name.resolve(undefined);
  }
}
