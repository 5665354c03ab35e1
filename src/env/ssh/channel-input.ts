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
