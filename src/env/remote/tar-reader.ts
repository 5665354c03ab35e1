import type { TarMember } from "./tar-writer.js";

const BLOCK = 512;
/** Names and the like; nothing of that kind is longer. */
const MAX_TEXT = 1024 * 1024;

export interface ReadMember extends Omit<TarMember, "type"> {
  readonly type: TarMember["type"] | "hardlink" | "other";
}

export interface TarListener {
  /** A member begins; its bytes follow. */
  onMember(member: ReadMember): Promise<void>;
  onBytes(bytes: Buffer): Promise<void>;
  onMemberEnd(): Promise<void>;
}

const TYPES: Readonly<Record<string, ReadMember["type"]>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "5": "directory",
};

/** Reads what the tar programs of GNU, busybox and BSD write, in order and without holding it. */
export class TarReader {
  readonly #listener: TarListener;
  #held: Buffer = Buffer.alloc(0);
  /** What is left of the member that is being read, and of the zeros after it. */
  #bytesLeft = 0;
  #paddingLeft = 0;
  #inMember = false;
  /** A name or the like that is being gathered for the next member. */
  #text: { readonly letter: string; parts: Buffer[] } | undefined;
  #next: { name?: Buffer; target?: Buffer | undefined; size?: number; mtimeMs?: number } = {};
  #ended = false;

  constructor(listener: TarListener) {
    this.#listener = listener;
  }

  /** True when the archive's end was seen: without it, something is missing. */
  get complete(): boolean {
    return this.#ended;
  }

  async push(bytes: Uint8Array): Promise<void> {
    const added = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#held = this.#held.length === 0 ? added : Buffer.concat([this.#held, added]);
    while (!this.#ended && (await this.#step())) {
      // Each step takes one piece.
    }
  }

  async #step(): Promise<boolean> {
    if (this.#bytesLeft > 0) {
      const piece = this.#take(Math.min(this.#bytesLeft, this.#held.length));
      if (piece.length === 0) return false;
      this.#bytesLeft -= piece.length;
      if (this.#text !== undefined) this.#text.parts.push(piece);
      else await this.#listener.onBytes(piece);
      if (this.#bytesLeft > 0) return true;
    }
    if (this.#inMember || this.#text !== undefined) {
      await this.#endOfBytes();
      return true;
    }
    if (this.#paddingLeft > 0) {
      const skipped = this.#take(Math.min(this.#paddingLeft, this.#held.length));
      this.#paddingLeft -= skipped.length;
      return skipped.length > 0;
    }
    if (this.#held.length < BLOCK) return false;
    await this.#header(this.#take(BLOCK));
    return true;
  }

  #take(length: number): Buffer {
    const piece = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return piece;
  }

  async #endOfBytes(): Promise<void> {
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined) this.#takeText(text.letter, Buffer.concat(text.parts));
    else await this.#listener.onMemberEnd();
    this.#inMember = false;
  }

  async #header(block: Buffer): Promise<void> {
    if (block.every((byte) => byte === 0)) {
      this.#ended = true;
      return;
    }
    requireChecksum(block);
    const letter = String.fromCharCode(block[156] ?? 0);
    const isText = "LKxg".includes(letter);
    const size = isText ? numberAt(block, 124, 12) : (this.#next.size ?? numberAt(block, 124, 12));
    this.#paddingLeft = (BLOCK - (size % BLOCK)) % BLOCK;
    this.#bytesLeft = size;
    if (isText) {
      if (size > MAX_TEXT) throw new Error("a name in the archive is too long");
      this.#text = { letter, parts: [] };
      return;
    }
    const member = this.#member(block, { letter, size });
    this.#next = {};
    // Only files have bytes, whatever the size says of the rest.
    if (member.type !== "file" && member.type !== "other") {
      this.#bytesLeft = 0;
      this.#paddingLeft = 0;
    }
    this.#inMember = true;
    await this.#listener.onMember(member);
  }

  #member(block: Buffer, known: { letter: string; size: number }): ReadMember {
    const type = TYPES[known.letter] ?? "other";
    const target = this.#next.target ?? textAt(block, 157, 100);
    return {
      name: this.#next.name ?? nameIn(block),
      type,
      size: known.size,
      mode: numberAt(block, 100, 8),
      mtimeMs: this.#next.mtimeMs ?? numberAt(block, 136, 12) * 1000,
      target: target.length > 0 ? target : undefined,
    };
  }

  #takeText(letter: string, text: Buffer): void {
    if (letter === "L") this.#next.name = untilZero(text);
    else if (letter === "K") this.#next.target = untilZero(text);
    else if (letter === "x") Object.assign(this.#next, readRecords(text));
  }
}

/** `length key=value\n` records, where the length counts all of the record. */
function readRecords(text: Buffer) {
  const found: { name?: Buffer; target?: Buffer | undefined; size?: number; mtimeMs?: number } = {};
  for (let at = 0; at < text.length; ) {
    const blank = text.indexOf(" ", at);
    const length = Number(text.toString("latin1", at, blank));
    if (blank === -1 || !Number.isInteger(length) || length <= 0) break;
    const record = text.subarray(blank + 1, at + length - 1);
    const equals = record.indexOf("=");
    const value = record.subarray(equals + 1);
    switch (record.toString("latin1", 0, equals)) {
      case "path":
        found.name = value;
        break;
      case "linkpath":
        found.target = value;
        break;
      case "size":
        found.size = Number(value.toString("latin1"));
        break;
      case "mtime":
        found.mtimeMs = Number(value.toString("latin1")) * 1000;
        break;
    }
    at += length;
  }
  return found;
}

function nameIn(block: Buffer): Buffer {
  const name = textAt(block, 0, 100);
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? textAt(block, 345, 155) : Buffer.alloc(0);
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]);
}

function textAt(block: Buffer, at: number, length: number): Buffer {
  return untilZero(block.subarray(at, at + length));
}

function untilZero(text: Buffer): Buffer {
  const end = text.indexOf(0);
  return Buffer.from(end === -1 ? text : text.subarray(0, end));
}

function numberAt(block: Buffer, at: number, length: number): number {
  const first = block[at] ?? 0;
  const value =
    (first & 0x80) === 0
      ? Number.parseInt(
          block
            .toString("latin1", at, at + length)
            .trim()
            .replaceAll("\0", "") || "0",
          8,
        )
      : Number(block.readBigUInt64BE(at + length - 8));
  if (!Number.isSafeInteger(value) || value < 0) throw new Error("a number in the archive is not valid");
  return value;
}

function requireChecksum(block: Buffer): void {
  const said = numberAt(block, 148, 8);
  let sum = 8 * 0x20;
  for (let index = 0; index < BLOCK; index += 1) if (index < 148 || index >= 156) sum += block[index] ?? 0;
  if (sum !== said) throw new Error("the archive is damaged");
}
