import { isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";

export const DEFAULT_OUTPUT_CHARS = 50_000;
const HEAD_SHARE = 0.4;

/** A UTF-16 unit comes from three bytes at most; the rest is for characters cut in two at the edges. */
const bytesFor = (chars: number) => (chars + 4) * 3;

export interface WindowContent {
  readonly text: string;
  readonly truncated: boolean;
  readonly totalBytes: number;
}

/**
 * Keeps the beginning and the end of a stream of any length in bounded memory. Bytes are copied and counted, and only
 * those that are still there in the end are decoded: a character split over two chunks survives, and invalid bytes
 * become U+FFFD, as if all had been decoded at once. How many characters were left out is known as long as all was
 * ASCII or nothing had to go yet; after that the notice tells bytes.
 */
export class OutputWindow {
  readonly #limit: number;
  readonly #headChars: number;
  readonly #headBytes: number;
  readonly #head: Buffer[] = [];
  readonly #tail: ByteTail;
  #decoder: StringDecoder | undefined;
  #isAscii = true;
  #totalBytes = 0;

  constructor(maxChars = DEFAULT_OUTPUT_CHARS) {
    this.#limit = Math.max(1, maxChars);
    this.#headChars = Number.isFinite(this.#limit) ? Math.floor(this.#limit * HEAD_SHARE) : this.#limit;
    this.#headBytes = bytesFor(this.#headChars);
    this.#tail = new ByteTail(bytesFor(this.#limit - this.#headChars));
  }

  /** Adds bytes and gives back the text they completed. */
  push(bytes: Uint8Array): string {
    this.add(bytes);
    this.#decoder ??= new StringDecoder("utf8");
    return this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** The same for those who do not need the text. The bytes may be used for something else afterwards. */
  add(bytes: Uint8Array): void {
    const room = Math.min(this.#headBytes - this.#totalBytes, bytes.byteLength);
    this.#totalBytes += bytes.byteLength;
    this.#isAscii &&= isAscii(bytes);
    if (room > 0) this.#head.push(Buffer.from(bytes.subarray(0, room)));
    if (room >= bytes.byteLength) return;
    this.#tail.add(room > 0 ? bytes.subarray(room) : bytes, this.#isAscii ? this.#tailChars : undefined);
  }

  finish(): WindowContent {
    const head = Buffer.concat(this.#head);
    const tail = this.#tail.bytes();
    const totalBytes = this.#totalBytes;
    if (head.length + tail.length === totalBytes) {
      const text = Buffer.concat([head, tail]).toString("utf8");
      if (text.length <= this.#limit) return { text, truncated: false, totalBytes };
      return this.#cut({ head: text, tail: text, total: text.length, unit: "characters" });
    }
    const [first, last] = [head.toString("utf8"), fromWholeCharacter(tail).toString("utf8")];
    const unit = this.#isAscii ? "characters" : "bytes";
    return this.#cut({ head: first, tail: last, total: totalBytes, unit });
  }

  get #tailChars(): number {
    return this.#limit - this.#headChars;
  }

  #cut(text: { head: string; tail: string; total: number; unit: "characters" | "bytes" }): WindowContent {
    const { total, unit } = text;
    const before = withoutHalfPairAtEnd(text.head.slice(0, this.#headChars));
    const after = withoutHalfPairAtStart(text.tail.slice(text.tail.length - this.#tailChars));
    const kept = unit === "bytes" ? Buffer.byteLength(before + after) : before.length + after.length;
    const notice = `\n[... ${total - kept} of ${total} ${unit} omitted ...]\n`;
    return { text: before + notice + after, truncated: true, totalBytes: this.#totalBytes };
  }
}

/** The last bytes of a stream. */
class ByteTail {
  readonly #limit: number;
  #store = Buffer.alloc(0);
  /** Where the next byte goes, and, once the store is full, where the oldest lies. */
  #at = 0;
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `enough`: from so many bytes on, all that came before may go. */
  add(bytes: Uint8Array, enough = this.#limit): void {
    if (bytes.byteLength >= enough) {
      this.#at = 0;
      this.#isFull = false;
    }
    const last = bytes.byteLength > enough ? bytes.subarray(bytes.byteLength - enough) : bytes;
    if (!this.#isFull) this.#makeRoom(last.byteLength);
    const untilEnd = Math.min(last.byteLength, this.#store.length - this.#at);
    this.#store.set(last.subarray(0, untilEnd), this.#at);
    this.#at += untilEnd;
    if (this.#at < this.#limit) return;
    this.#isFull = true;
    this.#at = last.byteLength - untilEnd;
    this.#store.set(last.subarray(untilEnd), 0);
  }

  bytes(): Buffer {
    const newest = this.#store.subarray(0, this.#at);
    return this.#isFull ? Buffer.concat([this.#store.subarray(this.#at), newest]) : newest;
  }

  #makeRoom(bytes: number): void {
    const needed = Math.min(this.#limit, this.#at + bytes);
    if (needed <= this.#store.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(needed, 2 * this.#store.length)));
    this.#store.copy(larger, 0, 0, this.#at);
    this.#store = larger;
  }
}

/** Without the rest of a character whose beginning was dropped. */
function fromWholeCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

function withoutHalfPairAtEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function withoutHalfPairAtStart(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}
