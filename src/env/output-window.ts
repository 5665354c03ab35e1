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
 * Keeps the beginning and the end of a stream of any length in bounded memory. Bytes are decoded as they
 * arrive, so a character split over two chunks survives and invalid bytes become U+FFFD.
 */
export class OutputWindow {
  readonly #decoder = new StringDecoder("utf8");
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailStart = 0;
  #tailLength = 0;
  #totalChars = 0;
  #totalBytes = 0;

  constructor(maxChars = DEFAULT_OUTPUT_CHARS) {
    const limit = Math.max(1, maxChars);
    this.#headLimit = Number.isFinite(limit) ? Math.floor(limit * HEAD_SHARE) : Number.POSITIVE_INFINITY;
    this.#tailLimit = Number.isFinite(limit) ? limit - this.#headLimit : 0;
  }

  /** Adds bytes and gives back the text they completed. */
  push(bytes: Uint8Array): string {
    this.#totalBytes += bytes.byteLength;
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#append(text);
    return text;
  }

  finish(): WindowContent {
    this.#append(this.#decoder.end());
    const head = this.#head.join("");
    const rest = this.#tail.slice(this.#tailStart).join("");
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
    if (room > 0) {
      const part = text.length <= room ? text : text.slice(0, room);
      this.#head.push(part);
      this.#headLength += part.length;
      if (part.length === text.length) return;
      this.#appendTail(text.slice(room));
    } else this.#appendTail(text);
  }

  #appendTail(text: string): void {
    this.#tail.push(text);
    this.#tailLength += text.length;
    let first = this.#tail[this.#tailStart];
    while (first !== undefined && this.#tailLength - first.length >= this.#tailLimit) {
      this.#tailLength -= first.length;
      this.#tail[this.#tailStart] = "";
      this.#tailStart += 1;
      first = this.#tail[this.#tailStart];
    }
    // Many tiny chunks would otherwise leave a long run of emptied slots.
    if (this.#tailStart > 1024) {
      this.#tail = this.#tail.slice(this.#tailStart);
      this.#tailStart = 0;
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
