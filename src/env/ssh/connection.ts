import { ToolError } from "../../tool/errors.js";
import type { TransportStart } from "../remote/transport.js";
import { type Master, startMaster } from "./master.js";
import { Multiplexer } from "./multiplexer.js";
import type { SshOptions } from "./options.js";
import { type SessionChannel, SessionRefused } from "./session-channel.js";

const DEFAULT_IDLE_SECONDS = 300;
/** The socket closes a moment before the process that knows why has ended. */
const REASON_MS = 1_000;
/** A session counts on the server a little longer than here, so a refusal is not believed for ever. */
const FULL_MS = 1_000;

export interface ConnectionListener {
  /** Something that ran on it has ended, so it may have room again. */
  onRoom(): void;
  /** It is not usable any more. `lost` says why, unless it was closed on purpose or because nobody used it. */
  onGone(lost: string | undefined): void;
}

/** One login on the host, and what runs over it. */
export class SshConnection {
  /** The server has given out a session on it. */
  proven = false;
  readonly socket: string;
  readonly #master: Master;
  readonly #multiplexer: Multiplexer;
  readonly #listener: ConnectionListener;
  readonly #idleMs: number;
  #fullUntil = 0;
  #idle: NodeJS.Timeout | undefined;
  #using = 0;
  #closing = false;
  #usable = true;

  static async open(options: SshOptions, listener: ConnectionListener): Promise<SshConnection> {
    const master = await startMaster(options);
    try {
      const multiplexer = await Multiplexer.connect(master.socket);
      const idleMs = (options.idleSeconds ?? DEFAULT_IDLE_SECONDS) * 1_000;
      return new SshConnection({ master, multiplexer, listener, idleMs });
    } catch (error) {
      await master.close();
      throw new ToolError("The connection was made, but the ssh program does not let others use it.", {
        code: "unavailable",
        hint: "OpenSSH 7.6 or later is needed on this machine (ssh -V).",
        cause: error,
      });
    }
  }

  private constructor(parts: {
    readonly master: Master;
    readonly multiplexer: Multiplexer;
    readonly listener: ConnectionListener;
    readonly idleMs: number;
  }) {
    this.#master = parts.master;
    this.#multiplexer = parts.multiplexer;
    this.#listener = parts.listener;
    this.#idleMs = parts.idleMs;
    this.socket = parts.master.socket;
    void Promise.race([parts.multiplexer.gone, parts.master.ended]).then(() => this.#end());
    this.#rest();
  }

  /** The server refused another session a moment ago, and none has ended since. */
  get full(): boolean {
    return performance.now() < this.#fullUntil;
  }

  get usable(): boolean {
    return this.#usable;
  }

  /** Rejects with `SessionRefused` when the server wants no more sessions here. */
  async start(request: Omit<TransportStart, "argv">, line: string): Promise<SessionChannel> {
    const release = this.hold();
    const channel = this.#multiplexer.open({
      ...request,
      line,
      onOpened: () => {
        this.proven = true;
      },
      onClosed: () => {
        release();
        this.#fullUntil = 0;
        this.#listener.onRoom();
      },
    });
    try {
      await channel.accepted;
      return channel;
    } catch (error) {
      if (error instanceof SessionRefused) this.#fullUntil = performance.now() + FULL_MS;
      throw error;
    }
  }

  /** Keeps the connection open until the answer is called. */
  hold(): () => void {
    clearTimeout(this.#idle);
    this.#using += 1;
    this.#multiplexer.keepAlive(true);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#using -= 1;
      if (this.#using === 0) this.#rest();
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#usable = false;
    clearTimeout(this.#idle);
    this.#multiplexer.close();
    await this.#master.close();
  }

  #rest(): void {
    this.#multiplexer.keepAlive(false);
    if (!this.#usable) return;
    this.#idle = setTimeout(() => void this.close(), this.#idleMs);
    this.#idle.unref();
  }

  async #end(): Promise<void> {
    this.#usable = false;
    clearTimeout(this.#idle);
    this.#multiplexer.close();
    const late = new Promise<string>((resolve) => {
      setTimeout(() => resolve("the connection to the host ended"), REASON_MS).unref();
    });
    const why = this.#closing ? "the connection was closed" : await Promise.race([this.#master.ended, late]);
    this.#multiplexer.loseAll(why);
    this.#listener.onGone(this.#closing ? undefined : why);
    await this.#master.close();
  }
}
