/** The values of the SSH wire format (RFC 4251, section 5) that channels need. */
export class WireWriter {
  readonly #parts: Buffer[] = [];

  byte(value: number): this {
    this.#parts.push(Buffer.of(value));
    return this;
  }

  flag(value: boolean): this {
    return this.byte(value ? 1 : 0);
  }

  number(value: number): this {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(value >>> 0);
    this.#parts.push(bytes);
    return this;
  }

  text(value: string | Uint8Array): this {
    const bytes =
      typeof value === "string"
        ? Buffer.from(value)
        : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.number(bytes.length);
    this.#parts.push(bytes);
    return this;
  }

  /** With its length in front. */
  packet(): Buffer {
    const length = this.#parts.reduce((sum, part) => sum + part.length, 0);
    const head = Buffer.allocUnsafe(4);
    head.writeUInt32BE(length);
    return Buffer.concat([head, ...this.#parts]);
  }
}

/** Reads what was received; anything cut short is an error of the other side. */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  byte(): number {
    this.#need(1);
    return this.#bytes.readUInt8(this.#at++);
  }

  flag(): boolean {
    return this.byte() !== 0;
  }

  number(): number {
    this.#need(4);
    const value = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  bytes(): Buffer {
    const length = this.number();
    this.#need(length);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  #need(count: number): void {
    if (this.#at + count > this.#bytes.length) throw new Error("a packet ended too early");
  }
}

const MAX_PACKET = 1_048_576;

/** Cuts a byte stream into packets that carry their length in front. */
export class PacketSplitter {
  #missing = 0;
  #waiting: Buffer[] = [];

  /** Complete packets, without their length; they share memory with `chunk`. */
  *split(chunk: Buffer): Generator<Buffer> {
    this.#waiting.push(chunk);
    this.#missing -= chunk.length;
    if (this.#missing > 0) return;
    let rest = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting);
    this.#waiting = [];
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length > MAX_PACKET) throw new Error(`a packet of ${length} bytes`);
      if (rest.length < 4 + length) break;
      yield rest.subarray(4, 4 + length);
      rest = rest.subarray(4 + length);
    }
    this.#missing = rest.length < 4 ? 4 - rest.length : 4 + rest.readUInt32BE(0) - rest.length;
    if (rest.length > 0) this.#waiting.push(rest);
  }
}
