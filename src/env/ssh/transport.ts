import { deferred } from "../../base/deferred.js";
import { messageOf } from "../../base/errno.js";
import { quoteForShell } from "../../base/quote.js";
import { ToolError } from "../../tool/errors.js";
import type { Transport, TransportProcess, TransportStart } from "../remote/transport.js";
import { SshConnection } from "./connection.js";
import { destination, type SshOptions } from "./options.js";
import { NeverSent, SessionRefused } from "./session-channel.js";

/** Servers allow ten sessions on one connection unless told otherwise; more of them need more connections. */
const DEFAULT_MAX_CONNECTIONS = 8;
const WAIT_FOR_ROOM_MS = 30_000;
const LOOK_AGAIN_MS = 500;
/** How often a command is begun anew whose connection turned out to be gone before it was sent. */
const MAX_ATTEMPTS = 3;
/** Start-up files of the login shell may be slow. */
const LOGIN_SHELL_TEST_MS = 10_000;

/** Programs on a host, over as many connections as its server makes necessary. */
export class SshTransport implements Transport {
  readonly #options: SshOptions;
  readonly #connections = new Set<SshConnection>();
  #connecting: Promise<SshConnection> | undefined;
  #room = deferred<void>();
  #loginShell: LoginShell | undefined;
  #broken = false;
  #closed = false;

  constructor(options: SshOptions) {
    this.#options = options;
  }

  get connections(): number {
    return this.#usable().length;
  }

  get broken(): boolean {
    return this.#broken;
  }

  async start(request: TransportStart): Promise<TransportProcess> {
    this.#broken = false;
    const deadline = performance.now() + WAIT_FOR_ROOM_MS;
    let attempts = 0;
    while (true) {
      const connection = await this.#withRoom(deadline);
      try {
        return await connection.start(request, loginShellLine(request.argv, this.#loginShell ?? "any"));
      } catch (error) {
        if (error instanceof SessionRefused) {
          if (!connection.proven) throw noSessions(this.#options, error.message);
          continue;
        }
        attempts += 1;
        if (!(error instanceof NeverSent) || attempts === MAX_ATTEMPTS) throw this.#failed(error);
      }
    }
  }

  /** A connection that stays open until `release` is called. */
  async borrow(): Promise<{ readonly socket: string; release(): void }> {
    const connection = this.#usable()[0] ?? (await this.#connect());
    return { socket: connection.socket, release: connection.hold() };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting?.catch(() => {});
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    this.#connections.clear();
  }

  #usable(): SshConnection[] {
    return [...this.#connections].filter((connection) => connection.usable);
  }

  async #withRoom(deadline: number): Promise<SshConnection> {
    while (true) {
      const usable = this.#usable();
      const roomy = usable.find((connection) => !connection.full);
      if (roomy !== undefined) return roomy;
      if (usable.length < (this.#options.maxConnections ?? DEFAULT_MAX_CONNECTIONS)) return this.#connect();
      const left = deadline - performance.now();
      if (left <= 0) throw allBusy(this.#options, usable.length);
      await this.#waitForRoom(Math.min(left, LOOK_AGAIN_MS));
    }
  }

  async #waitForRoom(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#room.promise, late]);
    clearTimeout(timer);
  }

  /** Many may ask at once; one login answers all of them. */
  #connect(): Promise<SshConnection> {
    if (this.#closed) {
      return Promise.reject(
        new ToolError("The ssh environment is closed.", { code: "unavailable", hint: "Open a new session." }),
      );
    }
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<SshConnection> {
    const connection: SshConnection = await SshConnection.open(this.#options, {
      onRoom: () => this.#announceRoom(),
      onGone: (lost) => {
        this.#connections.delete(connection);
        this.#announceRoom();
        if (lost !== undefined) this.#broken = true;
      },
    });
    this.#connections.add(connection);
    this.#loginShell ??= await findLoginShell(connection);
    return connection;
  }

  #announceRoom(): void {
    this.#room.resolve();
    this.#room = deferred();
  }

  #failed(error: unknown): ToolError {
    if (ToolError.isInstance(error)) return error;
    const why = messageOf(error);
    return new ToolError(`The command could not be started on ${destination(this.#options)}: ${why}.`, {
      code: "unavailable",
      hint: "Call again: the next one connects anew.",
    });
  }
}

/** Found out by trying: neither the name of a shell nor its variables tell what really reads the line. */
async function findLoginShell(connection: SshConnection): Promise<LoginShell | undefined> {
  const printed: Uint8Array[] = [];
  try {
    const request = { onStdout: (bytes: Uint8Array) => void printed.push(bytes), onStderr: () => {} };
    const test = await connection.start(request, LOGIN_SHELL_TEST.line);
    const limit = setTimeout(() => test.abandon(), LOGIN_SHELL_TEST_MS);
    await test.ended;
    clearTimeout(limit);
    // Its start-up files may print something first.
    return Buffer.concat(printed).toString("utf8").endsWith(LOGIN_SHELL_TEST.answer) ? "posix" : "any";
  } catch {
    // Whatever is wrong, the command that is about to start says it.
    return undefined;
  }
}

function noSessions(options: SshOptions, why: string): ToolError {
  return new ToolError(`${destination(options)} lets nobody run programs over ssh (${why}).`, {
    code: "unavailable",
    hint: "The server's MaxSessions must be at least 1.",
  });
}

function allBusy(options: SshOptions, connections: number): ToolError {
  return new ToolError(
    `${destination(options)} takes no more programs at once: all sessions of ${connections} connections are in use.`,
    { code: "unavailable", hint: "End background processes there, or raise the server's MaxSessions." },
  );
}

/** Linux refuses to start a program with a longer argument, and the login shell gets the line as one. */
const MAX_LINE_BYTES = 131_071;

/**
 * Characters that mean the same between single quotes in sh, csh and fish. Left out: the quote; `!`, which csh
 * takes for its history; the backslash, which fish takes for an escape; line breaks, which csh does not allow;
 * and everything that depends on the locale.
 */
const PLAIN = /^[ "-&(-[\]-~]*$/;
/** Runs its `$0`, in which `printf` puts all other characters back. */
const DECODE = 'eval "$(printf %b "$0")"';

/** Which quoting the account's login shell understands. */
export type LoginShell = "posix" | "any";

/** Comes back unchanged only from a shell that reads quotes as sh does. */
const TEST_WORD = "a'b\\\\c\\'!d\n\\e $HOME `f` é *";
export const LOGIN_SHELL_TEST = {
  line: `exec printf %s ${quoteForShell(TEST_WORD)}`,
  answer: TEST_WORD,
} as const;

/**
 * An argument vector as one line that the login shell turns back into exactly these arguments: a server hands
 * every command to the account's shell, whatever that is. The form for any shell costs the start of an `sh`.
 */
export function loginShellLine(argv: readonly string[], shell: LoginShell): string {
  if (argv.some((argument) => argument.includes("\0"))) {
    throw new ToolError("The command holds a NUL byte, which no program can receive as an argument.", {
      code: "invalid_arguments",
      hint: "Remove the NUL byte, or write the data to a file.",
    });
  }
  const plain = argv.every((argument) => PLAIN.test(argument));
  const command = `exec ${argv.map(quoteForShell).join(" ")}`;
  const line = plain || shell === "posix" ? command : `exec sh -c '${DECODE}' '${encode(command)}'`;
  const bytes = Buffer.byteLength(line);
  if (bytes <= MAX_LINE_BYTES) return line;
  throw new ToolError(
    `The command is too large to start over ssh: ${bytes} bytes, ${MAX_LINE_BYTES} are allowed.`,
    { code: "invalid_arguments", hint: "Write the text to a file, or pass the data on standard input." },
  );
}

/** Octal escapes for `printf %b`: no shell changes a backslash before a zero between single quotes. */
function encode(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    encoded += PLAIN.test(char) ? char : `\\0${byte.toString(8).padStart(3, "0")}`;
  }
  return encoded;
}
