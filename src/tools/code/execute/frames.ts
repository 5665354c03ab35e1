/** What a driver program tells: it runs, it calls a tool, it prints an error, it failed, a cell is done. */
export type FrameKind = "h" | "q" | "e" | "x" | "d";

/** Longest piece that a pipe takes without mixing it with what others print at the same time. */
const PIECE_BYTES = 4_096;
const TOKEN_BYTES = 16;
/** Kind, whether more follows, and the length in four hexadecimal digits. */
const HEADER_BYTES = 6;
export const PAYLOAD_BYTES = PIECE_BYTES - TOKEN_BYTES - HEADER_BYTES;
const MORE = 0x2b;
/** A longer message is dropped: a script could send one without an end. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface FrameListener {
  /** What the program and everything it started have printed. */
  onOutput(bytes: Buffer): void;
  onFrame(kind: FrameKind, payload: Buffer): void;
}

/**
 * Takes frames out of a program's output. Each begins with a token that nobody else knows and is written in
 * one piece, so whatever stands between two frames is output, wherever its lines end.
 */
export class FrameReader {
  readonly #token: Buffer;
  readonly #listener: FrameListener;
  #held: Buffer = Buffer.alloc(0);
  readonly #parts = new Map<FrameKind, Parts>();

  constructor(token: string, listener: FrameListener) {
    this.#token = Buffer.from(token, "latin1");
    if (this.#token.length !== TOKEN_BYTES) throw new RangeError("a token has 16 bytes");
    this.#listener = listener;
  }

  push(bytes: Uint8Array): void {
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let rest = this.#held.length === 0 ? given : Buffer.concat([this.#held, given]);
    this.#held = rest.subarray(0, 0);
    while (rest.length > 0) {
      const start = rest.indexOf(this.#token);
      if (start === -1) {
        const kept = beginningOf(this.#token, rest);
        this.#print(rest.subarray(0, rest.length - kept));
        this.#held = rest.subarray(rest.length - kept);
        return;
      }
      this.#print(rest.subarray(0, start));
      rest = rest.subarray(start);
      const length = frameLength(rest);
      if (length === undefined || rest.length < length) {
        this.#held = rest;
        return;
      }
      this.#frame(rest.subarray(TOKEN_BYTES, length));
      rest = rest.subarray(length);
    }
  }

  /** No more will come: what looked like the beginning of a frame was none. */
  finish(): void {
    this.#print(this.#held);
    this.#held = this.#held.subarray(0, 0);
  }

  #print(bytes: Buffer): void {
    if (bytes.length > 0) this.#listener.onOutput(bytes);
  }

  #frame(bytes: Buffer): void {
    const kind = String.fromCharCode(bytes[0] ?? 0) as FrameKind;
    const payload = bytes.subarray(HEADER_BYTES);
    const before = this.#parts.get(kind);
    if (bytes[1] === MORE) {
      this.#parts.set(kind, joined(before ?? { pieces: [], bytes: 0 }, payload));
      return;
    }
    this.#parts.delete(kind);
    if (before === undefined) this.#listener.onFrame(kind, payload);
    else if (before.bytes + payload.length <= MAX_MESSAGE_BYTES) {
      this.#listener.onFrame(kind, Buffer.concat([...before.pieces, payload]));
    }
  }
}

/** The beginning of a message that came in several frames. */
interface Parts {
  readonly pieces: Buffer[];
  bytes: number;
}

function joined(before: Parts, piece: Buffer): Parts {
  before.bytes += piece.length;
  if (before.bytes > MAX_MESSAGE_BYTES) before.pieces.length = 0;
  // A copy: the piece alone would keep the whole buffer it came in.
  else before.pieces.push(Buffer.from(piece));
  return before;
}

/** How many bytes at the end of the text are the beginning of the token. */
function beginningOf(token: Buffer, text: Buffer): number {
  for (let length = Math.min(token.length - 1, text.length); length > 0; length--) {
    if (token.subarray(0, length).equals(text.subarray(text.length - length))) return length;
  }
  return 0;
}

function frameLength(frame: Buffer): number | undefined {
  const header = TOKEN_BYTES + HEADER_BYTES;
  if (frame.length < header) return undefined;
  const payload = Number.parseInt(frame.toString("latin1", TOKEN_BYTES + 2, header), 16);
  return header + (Number.isNaN(payload) ? 0 : payload);
}

/** What goes to a driver: eight hexadecimal digits of length, then the text. */
export function orderFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(8 + length);
  frame.write(length.toString(16).padStart(8, "0"), 0, "latin1");
  frame.write(text, 8, "utf8");
  return frame;
}
