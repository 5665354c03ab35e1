/** What a program is to read, sent no faster than the server takes it. */
export class ChannelInput {
  readonly #send: { data(bytes: Uint8Array): void; end(): void };
  #window = 0;
  #maxPacket = 0;
  #waiting: { readonly bytes: Uint8Array; sent(): void }[] = [];
  #over = false;
  #endSent = false;

  constructor(send: { data(bytes: Uint8Array): void; end(): void }) {
    this.#send = send;
  }

  /** The server tells once what it takes, and then each time it has taken some. */
  open(room: { readonly window: number; readonly maxPacket: number }): void {
    this.#maxPacket = Math.max(1, room.maxPacket);
    this.widen(room.window);
  }

  widen(bytes: number): void {
    this.#window += bytes;
    this.#flush();
  }

  /** Resolves when all of it is on its way; what comes after the end is dropped. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#over || bytes.length === 0) return Promise.resolve();
    return new Promise((sent) => {
      this.#waiting.push({ bytes, sent });
      this.#flush();
    });
  }

  end(): void {
    this.#over = true;
    this.#flush();
  }

  /** Nobody reads any more. */
  drop(): void {
    this.#over = true;
    this.#endSent = true;
    for (const { sent } of this.#waiting.splice(0)) sent();
  }

  #flush(): void {
    if (this.#maxPacket === 0) return;
    for (let first = this.#waiting[0]; first !== undefined && this.#window > 0; first = this.#waiting[0]) {
      const { bytes, sent } = first;
      const size = Math.min(bytes.length, this.#window, this.#maxPacket);
      this.#window -= size;
      this.#send.data(bytes.subarray(0, size));
      if (size === bytes.length) {
        this.#waiting.shift();
        sent();
      } else {
        this.#waiting[0] = { bytes: bytes.subarray(size), sent };
      }
    }
    if (!this.#over || this.#endSent || this.#waiting.length > 0) return;
    this.#endSent = true;
    this.#send.end();
  }
}

/** How much the server may send before it hears that it was taken, which is also what a pause holds at most. */
export const RECEIVE_WINDOW = 2_097_152;

export interface OutputListener {
  onStdout(bytes: Uint8Array): void;
  onStderr(bytes: Uint8Array): void;
  /** The server may send as many bytes more. */
  widen(bytes: number): void;
}

/** What a program prints, and the window that makes it wait while nobody takes it. */
export class ChannelOutput {
  readonly #listener: OutputListener;
  #taken = 0;
  #paused = false;
  #held: { readonly bytes: Uint8Array; readonly stream: "onStdout" | "onStderr" }[] = [];
  #dropping = false;
  #whenDelivered: (() => void) | undefined;

  constructor(listener: OutputListener) {
    this.#listener = listener;
  }

  received(bytes: Uint8Array, stream: "onStdout" | "onStderr"): void {
    if (this.#paused && !this.#dropping) this.#held.push({ bytes, stream });
    else this.#deliver(bytes, stream);
  }

  pause(paused: boolean): void {
    this.#paused = paused;
    while (!this.#paused) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#deliver(next.bytes, next.stream);
    }
    this.#settle();
  }

  /** What is held and what still comes is nobody's any more. */
  drop(): void {
    this.#dropping = true;
    this.#held = [];
    this.#settle();
  }

  /** Calls back when the last byte has been given out; nothing may be received after this. */
  finish(delivered: () => void): void {
    this.#whenDelivered = delivered;
    this.#settle();
  }

  #settle(): void {
    if (this.#held.length > 0 || this.#whenDelivered === undefined) return;
    this.#whenDelivered();
    this.#whenDelivered = undefined;
  }

  #deliver(bytes: Uint8Array, stream: "onStdout" | "onStderr"): void {
    this.#taken += bytes.length;
    if (!this.#dropping) {
      try {
        this.#listener[stream](bytes);
      } catch {
        // A listener's mistake must not take the other programs of the connection down.
      }
    }
    if (this.#taken < RECEIVE_WINDOW / 2) return;
    this.#listener.widen(this.#taken);
    this.#taken = 0;
  }
}
