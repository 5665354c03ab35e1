import { constants } from "node:os";
import { type Deferred, deferred } from "../../base/deferred.js";
import type { TerminalSize } from "../environment.js";
import type { TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";
import { ChannelInput, ChannelOutput, RECEIVE_WINDOW } from "./channel-streams.js";
import { type WireReader, WireWriter } from "./wire.js";

/** Numbers of the connection protocol (RFC 4254, section 9). */
const MESSAGE = {
  open: 90,
  openConfirmation: 91,
  openFailure: 92,
  windowAdjust: 93,
  data: 94,
  extendedData: 95,
  eof: 96,
  close: 97,
  request: 98,
  success: 99,
  failure: 100,
} as const;

const MAX_RECEIVED_PACKET = 32_768;
const TERMINAL_TYPE = "xterm-256color";
/** The end of an empty list of terminal modes: the server's own stay. */
const NO_MODES = Uint8Array.of(0);
const END_OF_FILE_KEY = "\x04";

export interface ChannelStart extends Omit<TransportStart, "argv"> {
  /** Number of the channel on this side. */
  readonly id: number;
  /** Text for the login shell of the account. */
  readonly line: string;
  send(packet: Buffer): void;
  /** The server has made room for it. */
  onOpened(): void;
  /** The channel is closed on both sides. */
  onClosed(): void;
}

/** The server gives this connection no further session. */
export class SessionRefused extends Error {}

/** The connection was gone before the command was sent, so that it certainly did not run. */
export class NeverSent extends Error {}

/** One program on a connection, from opening its channel to its end. */
export class SessionChannel implements TransportProcess {
  readonly ended: Promise<TransportEnd>;
  /** Resolves when the server has accepted the command; rejects with `SessionRefused` or another reason. */
  readonly accepted: Promise<void>;

  readonly #start: ChannelStart;
  readonly #input: ChannelInput;
  readonly #output: ChannelOutput;
  readonly #end: Deferred<TransportEnd>;
  readonly #acceptance: Deferred<void>;
  /** Requests whose answer has not come; the server answers in order. */
  readonly #asked: ("terminal" | "command")[] = [];
  #serverId: number | undefined;
  #exitCode: number | undefined;
  #closeSent = false;
  #closed = false;

  constructor(start: ChannelStart) {
    this.#start = start;
    this.#end = deferred();
    this.#acceptance = deferred();
    this.ended = this.#end.promise;
    this.accepted = this.#acceptance.promise;
    this.#input = new ChannelInput({
      data: (bytes) => this.#tell(MESSAGE.data, (packet) => packet.text(bytes)),
      end: () => this.#tell(MESSAGE.eof),
    });
    this.#output = new ChannelOutput({
      onStdout: start.onStdout,
      onStderr: start.onStderr,
      widen: (bytes) => this.#tell(MESSAGE.windowAdjust, (packet) => packet.number(bytes)),
    });
    const packet = message(MESSAGE.open).text("session").number(start.id);
    start.send(packet.number(RECEIVE_WINDOW).number(MAX_RECEIVED_PACKET).packet());
  }

  write(data: string | Uint8Array): Promise<void> {
    return this.#input.write(typeof data === "string" ? Buffer.from(data) : data);
  }

  async closeInput(): Promise<void> {
    if (this.#start.pty === undefined) this.#input.end();
    else await this.write(END_OF_FILE_KEY);
  }

  resize(size: TerminalSize): void {
    this.#request("window-change", false, (packet) =>
      packet.number(size.columns).number(size.rows).number(0).number(0),
    );
  }

  pauseOutput(paused: boolean): void {
    this.#output.pause(paused);
  }

  abandon(): void {
    this.#output.drop();
    this.#close();
    this.#settle({ lost: "let go before it had ended" });
  }

  /** The connection is gone. */
  lose(why: string): void {
    this.#closed = true;
    this.#input.drop();
    this.#acceptance.reject(this.#serverId === undefined ? new NeverSent(why) : new Error(why));
    this.#output.finish(() => this.#settle({ lost: why }));
  }

  /** One message of the server for this channel; `reader` stands behind the channel's number. */
  receive(type: number, reader: WireReader): void {
    switch (type) {
      case MESSAGE.openConfirmation:
        this.#opened(reader);
        break;
      case MESSAGE.openFailure:
        this.#refused(reader);
        break;
      case MESSAGE.windowAdjust:
        this.#input.widen(reader.number());
        break;
      case MESSAGE.data:
        this.#output.received(reader.bytes(), "onStdout");
        break;
      case MESSAGE.extendedData:
        reader.number();
        this.#output.received(reader.bytes(), "onStderr");
        break;
      case MESSAGE.request:
        this.#told(reader);
        break;
      case MESSAGE.success:
      case MESSAGE.failure:
        this.#answered(type === MESSAGE.success);
        break;
      case MESSAGE.close:
        this.#closedByServer();
        break;
    }
  }

  #opened(reader: WireReader): void {
    this.#serverId = reader.number();
    this.#start.onOpened();
    const room = { window: reader.number(), maxPacket: reader.number() };
    if (this.#closeSent) {
      // Let go while it was being opened: nothing is to run.
      this.#tellClosing();
      return;
    }
    const { pty, line, stdin } = this.#start;
    if (pty !== undefined) {
      this.#asked.push("terminal");
      this.#request("pty-req", true, (packet) =>
        packet.text(TERMINAL_TYPE).number(pty.columns).number(pty.rows).number(0).number(0).text(NO_MODES),
      );
    }
    this.#asked.push("command");
    this.#request("exec", true, (packet) => packet.text(line));
    this.#input.open(room);
    if (stdin === "open") return;
    if (stdin !== undefined) void this.write(stdin);
    void this.closeInput();
  }

  #refused(reader: WireReader): void {
    const reason = reader.number();
    this.#closed = true;
    this.#acceptance.reject(new SessionRefused(reader.text() || `reason ${reason}`));
    this.#settle({ lost: "the server refused the session" });
    this.#start.onClosed();
  }

  #answered(granted: boolean): void {
    const what = this.#asked.shift();
    if (granted && what === "command") this.#acceptance.resolve();
    if (granted || what === undefined) return;
    this.#acceptance.reject(
      new Error(`the server does not give out a ${what === "terminal" ? "terminal" : "shell"}`),
    );
    this.abandon();
  }

  #told(reader: WireReader): void {
    const what = reader.text();
    const wantsAnswer = reader.flag();
    if (what === "exit-status") this.#exitCode = reader.number() & 0xff;
    else if (what === "exit-signal") this.#exitCode = 128 + signalNumber(reader.text());
    if (wantsAnswer) this.#tell(MESSAGE.failure);
  }

  #closedByServer(): void {
    this.#close();
    this.#closed = true;
    this.#input.drop();
    this.#acceptance.reject(new Error("the server closed the session at once"));
    const lost = "the server closed the session without telling how the program ended";
    this.#output.finish(() => this.#settle({ lost }));
    this.#start.onClosed();
  }

  #close(): void {
    this.#input.drop();
    if (this.#closeSent || this.#closed) return;
    this.#closeSent = true;
    if (this.#serverId !== undefined) this.#tellClosing();
  }

  #tellClosing(): void {
    this.#start.send(
      message(MESSAGE.close)
        .number(this.#serverId ?? 0)
        .packet(),
    );
  }

  #settle(otherwise: TransportEnd): void {
    this.#end.resolve(this.#exitCode === undefined ? otherwise : { exitCode: this.#exitCode });
  }

  #request(what: string, wantsAnswer: boolean, fill: (packet: WireWriter) => WireWriter): void {
    this.#tell(MESSAGE.request, (packet) => fill(packet.text(what).flag(wantsAnswer)));
  }

  /** The server ends the whole connection over a message for a channel that is closed. */
  #tell(type: number, fill: (packet: WireWriter) => WireWriter = (packet) => packet): void {
    if (this.#serverId === undefined || this.#closeSent || this.#closed) return;
    this.#start.send(fill(message(type).number(this.#serverId)).packet());
  }
}

/** Packets between multiplexer and client have room for padding and never any. */
function message(type: number): WireWriter {
  return new WireWriter().byte(0).byte(type);
}

function signalNumber(name: string): number {
  return Object.entries(constants.signals).find(([signal]) => signal === `SIG${name}`)?.[1] ?? 0;
}
