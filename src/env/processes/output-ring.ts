import { isAscii } from "node:buffer";
import { stripVTControlCharacters } from "node:util";

export const KEPT_CHARS = 200_000;
const SEGMENT_BYTES = 16_384;
/** An escape sequence is rarely longer, and one that was cut in two could not be taken out. */
const ESCAPE_MARGIN = 256;

interface Segment {
  readonly bytes: Buffer;
  used: number;
  /** Known once it is full. */
  chars: number;
}

/**
 * The last characters of an endless stream. Bytes are copied into segments as they come, and nothing is
 * decoded, counted or allocated per chunk: hundreds of processes may write megabytes each second.
 */
export class OutputRing {
  readonly #keep: number;
  #segments: Segment[] = [];
  /** Characters in the full segments. */
  #fullChars = 0;
  #totalBytes = 0;
  #dropped = false;

  constructor(keepChars = KEPT_CHARS) {
    this.#keep = keepChars;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Earlier output is gone, or no longer shown. */
  get dropped(): boolean {
    if (this.#dropped || this.#totalBytes <= this.#keep) return this.#dropped;
    return this.#everything().length > this.#keep;
  }

  push(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const segment = this.#withRoom();
      const take = Math.min(bytes.length - at, segment.bytes.length - segment.used);
      segment.bytes.set(bytes.subarray(at, at + take), segment.used);
      segment.used += take;
      at += take;
    }
  }

  /** Everything that is kept. */
  bytes(): Buffer {
    return Buffer.concat(this.#segments.map(({ bytes, used }) => bytes.subarray(0, used)));
  }

  text(): string {
    return lastCharacters(this.#everything(), this.#keep);
  }

  /** Up to two segments more than is shown: the oldest is only let go when it is not needed at all. */
  #everything(): string {
    return readable(this.#dropped ? fromWholeCharacter(this.bytes()) : this.bytes());
  }

  /** The last characters, without decoding more than they need. */
  tail(chars: number): string {
    const wanted = chars * 4 + ESCAPE_MARGIN;
    const parts: Buffer[] = [];
    let bytes = 0;
    for (let index = this.#segments.length - 1; index >= 0 && bytes < wanted; index -= 1) {
      const segment = this.#segments[index];
      if (segment === undefined) break;
      parts.unshift(segment.bytes.subarray(0, segment.used));
      bytes += segment.used;
    }
    return lastCharacters(readable(fromWholeCharacter(Buffer.concat(parts))), chars);
  }

  #withRoom(): Segment {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.used < last.bytes.length) return last;
    if (last !== undefined) {
      last.chars = charsOf(last.bytes);
      this.#fullChars += last.chars;
    }
    const segment = { bytes: this.#dropOldest() ?? newSegment(), used: 0, chars: 0 };
    this.#segments.push(segment);
    return segment;
  }

  /** Lets whole segments go that are not needed; the memory of one of them is used again. */
  #dropOldest(): Buffer | undefined {
    let freed: Buffer | undefined;
    for (let oldest = this.#segments[0]; oldest !== undefined; oldest = this.#segments[0]) {
      if (this.#fullChars - oldest.chars < this.#keep) break;
      this.#fullChars -= oldest.chars;
      this.#segments.shift();
      this.#dropped = true;
      freed = oldest.bytes;
    }
    return freed;
  }
}

/** Not from Node's shared pool, of which a small piece would hold all. */
function newSegment(): Buffer {
  return Buffer.allocUnsafeSlow(SEGMENT_BYTES);
}

function charsOf(bytes: Buffer): number {
  return isAscii(bytes) ? bytes.length : bytes.toString("utf8").length;
}

/** Without the rest of a character whose beginning was dropped. */
function fromWholeCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

function readable(bytes: Buffer): string {
  return stripVTControlCharacters(bytes.toString("utf8")).replaceAll("\r\n", "\n");
}

function lastCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  // The second half of a pair is no character.
  const from = text.length - count;
  return text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
