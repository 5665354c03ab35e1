import { isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";

export const DEFAULT_OUTPUT_CHARS = 50_000;
const HEAD_SHARE = 0.4;

export interface WindowContent {
  readonly text: string;
  readonly truncated: boolean;
  readonly totalChars: number;
  readonly totalBytes: number;
}

/**
 * Keeps the beginning and the end of a stream of any length in bounded memory. A character split over two
 * chunks survives and invalid bytes become U+FFFD, as if all bytes had been decoded at once; plain ASCII is
 * only counted, and decoded when it is still there in the end.
 */
export class OutputWindow {
  readonly #decoder = new StringDecoder("utf8");
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: string[] = [];
  #headLength = 0;
  readonly #tail: Tail;
  #totalChars = 0;
  #totalBytes = 0;
  /** A chunk ended inside of what may be a character. */
  #split = false;

  constructor(maxChars = DEFAULT_OUTPUT_CHARS) {
    const limit = Math.max(1, maxChars);
    this.#headLimit = Number.isFinite(limit) ? Math.floor(limit * HEAD_SHARE) : Number.POSITIVE_INFINITY;
    this.#tailLimit = Number.isFinite(limit) ? limit - this.#headLimit : 0;
    this.#tail = new Tail(this.#tailLimit);
  }

  /** Adds bytes and gives back the text they completed. */
  push(bytes: Uint8Array): string {
    this.#totalBytes += bytes.byteLength;
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const last = bytes.at(-1);
    if (last !== undefined) this.#split = last >= 0x80;
    this.#append(text);
    return text;
  }

  /** The same for those who do not need the text. The bytes may be used for something else afterwards. */
  add(bytes: Uint8Array): void {
    if (this.#split || !isAscii(bytes)) {
      this.push(bytes);
      return;
    }
    const { byteLength } = bytes;
    this.#totalBytes += byteLength;
    this.#totalChars += byteLength;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, byteLength);
    const room = Math.min(this.#headLimit - this.#headLength, byteLength);
    if (room > 0) this.#addToHead(buffer.toString("latin1", 0, room));
    if (byteLength > room) this.#tail.addAscii(buffer.subarray(room));
  }

  finish(): WindowContent {
    this.#append(this.#decoder.end());
    const head = this.#head.join("");
    const rest = this.#tail.text();
    const omitted = this.#totalChars - head.length - Math.min(rest.length, this.#tailLimit);
    const totals = { totalChars: this.#totalChars, totalBytes: this.#totalBytes };
    if (omitted <= 0) return { text: head + rest, truncated: false, ...totals };
    const before = withoutHalfPairAtEnd(head);
    const after = withoutHalfPairAtStart(rest.slice(rest.length - this.#tailLimit));
    const missing = this.#totalChars - before.length - after.length;
    const notice = `\n[... ${missing} of ${this.#totalChars} characters omitted ...]\n`;
    return { text: before + notice + after, truncated: true, ...totals };
  }

  #append(text: string): void {
    if (text === "") return;
    this.#totalChars += text.length;
    const room = this.#headLimit - this.#headLength;
    if (room >= text.length) this.#addToHead(text);
    else if (room > 0) {
      this.#addToHead(text.slice(0, room));
      this.#tail.add(text.slice(room));
    } else this.#tail.add(text);
  }

  #addToHead(text: string): void {
    this.#head.push(text);
    this.#headLength += text.length;
  }
}

/** The last pieces of a text, at least as many characters as wanted. */
class Tail {
  readonly #limit: number;
  #pieces: (string | Buffer)[] = [];
  #first = 0;
  #length = 0;
  /** Where a chunk that is a whole tail by itself is kept, so that a long stream needs no new memory. */
  #store: Buffer | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  text(): string {
    return this.#pieces
      .slice(this.#first)
      .map((piece) => (typeof piece === "string" ? piece : piece.toString("latin1")))
      .join("");
  }

  addAscii(bytes: Buffer): void {
    if (bytes.length < this.#limit) {
      this.add(bytes.toString("latin1"));
      return;
    }
    this.#store ??= Buffer.allocUnsafeSlow(this.#limit);
    bytes.copy(this.#store, 0, bytes.length - this.#limit);
    this.#pieces = [this.#store];
    this.#first = 0;
    this.#length = this.#limit;
  }

  add(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    let first = this.#pieces[this.#first];
    while (first !== undefined && this.#length - first.length >= this.#limit) {
      this.#length -= first.length;
      this.#pieces[this.#first] = "";
      this.#first += 1;
      first = this.#pieces[this.#first];
    }
    // Many tiny chunks would otherwise leave a long run of emptied slots.
    if (this.#first > 1024) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
  }
}

function withoutHalfPairAtEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function withoutHalfPairAtStart(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}
