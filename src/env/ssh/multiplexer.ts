import { connect, type Socket } from "node:net";
import { deferred } from "../../base/deferred.js";
import { type ChannelStart, SessionChannel } from "./session-channel.js";
import { PacketSplitter, WireReader, WireWriter } from "./wire.js";

/** Messages of OpenSSH's multiplexing protocol, and its only version. */
const HELLO = 0x0000_0001;
const PROTOCOL_VERSION = 4;
const ASK_PROXY = 0x1000_000f;
const PROXY_GRANTED = 0x8000_000f;
const REQUEST_ID = 0;
const HANDSHAKE_MS = 5_000;

/**
 * The channels of one connection that `ssh` holds. In proxy mode (OpenSSH 7.4 and later) the program hands on
 * the packets of the connection protocol as they are, so that a command needs no `ssh` process of its own.
 */
export class Multiplexer {
  readonly #socket: Socket;
  readonly #channels = new Map<number, SessionChannel>();
  readonly #splitter = new PacketSplitter();
  readonly #granted = deferred<void>();
  readonly #gone = deferred<void>();
  #nextId = 0;
  #handshake: "hello" | "asked" | "done" = "hello";

  /** Resolves when `ssh` has closed the socket, or something it sent made no sense. */
  readonly gone: Promise<void> = this.#gone.promise;

  static async connect(path: string): Promise<Multiplexer> {
    const multiplexer = new Multiplexer(connect(path));
    const limit = setTimeout(() => multiplexer.close(), HANDSHAKE_MS);
    try {
      await multiplexer.#granted.promise;
      return multiplexer;
    } finally {
      clearTimeout(limit);
    }
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#received(chunk));
    // "close" follows every error.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#granted.reject(new Error("ssh did not let this program use its connection"));
      this.#gone.resolve();
    });
    socket.write(new WireWriter().number(HELLO).number(PROTOCOL_VERSION).packet());
  }

  open(start: Omit<ChannelStart, "id" | "send">): SessionChannel {
    this.#nextId += 1;
    const id = this.#nextId;
    const channel = new SessionChannel({
      ...start,
      id,
      send: (packet) => this.#socket.write(packet),
      onClosed: () => {
        this.#channels.delete(id);
        start.onClosed();
      },
    });
    this.#channels.set(id, channel);
    return channel;
  }

  /** Everything that still runs is taken for lost. */
  loseAll(why: string): void {
    const channels = [...this.#channels.values()];
    this.#channels.clear();
    for (const channel of channels) channel.lose(why);
  }

  /** Whether waiting for the server keeps this process from ending. */
  keepAlive(wanted: boolean): void {
    if (wanted) this.#socket.ref();
    else this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }

  #received(chunk: Buffer): void {
    this.#socket.cork();
    try {
      for (const packet of this.#splitter.split(chunk)) {
        if (this.#handshake === "done") this.#dispatch(packet);
        else this.#shakeHands(new WireReader(packet));
      }
    } catch {
      // Nothing after a packet that cannot be read can be trusted.
      this.#socket.destroy();
    } finally {
      this.#socket.uncork();
    }
  }

  #shakeHands(reader: WireReader): void {
    const type = reader.number();
    if (this.#handshake === "hello") {
      const version = reader.number();
      if (type !== HELLO || version !== PROTOCOL_VERSION) throw new Error(`unknown protocol ${version}`);
      this.#handshake = "asked";
      this.#socket.write(new WireWriter().number(ASK_PROXY).number(REQUEST_ID).packet());
      return;
    }
    if (type !== PROXY_GRANTED) throw new Error("refused");
    this.#handshake = "done";
    this.#granted.resolve();
  }

  #dispatch(packet: Buffer): void {
    const reader = new WireReader(packet);
    reader.byte();
    const type = reader.byte();
    this.#channels.get(reader.number())?.receive(type, reader);
  }
}
