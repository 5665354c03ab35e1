/** Reports are dropped beyond this; an environment that large cannot be handed to a program anyway. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Room between the beginning of a frame and the end of its kind. */
const MAX_KIND_BYTES = 16;

export interface FrameListener {
  /** `body` is what stood between the frame's ends. */
  onFrame(kind: string, body: Buffer): void;
  /** Everything around the frames, in order. */
  onRest(bytes: Uint8Array): void;
}

/**
 * Takes reports out of a stream that others may write to as well. A frame is `TOKEN:kind:body TOKEN;` without
 * the blank; the token is random for each start, so that nothing else can look like one.
 */
export class FrameReader {
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  readonly #listener: FrameListener;
  #held: Buffer = Buffer.alloc(0);
  /** Where to go on looking for the end of a frame, so that a long one is not searched again and again. */
  #searched = 0;
  #inFrame = false;

  constructor(token: string, listener: FrameListener) {
    this.#opening = Buffer.from(`${token}:`);
    this.#closing = Buffer.from(`${token};`);
    this.#listener = listener;
  }

  push(bytes: Uint8Array): void {
    const added = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#held = this.#held.length === 0 ? added : Buffer.concat([this.#held, added]);
    while (this.#inFrame ? this.#takeFrame() : this.#takeRest()) {
      // Each step takes one piece.
    }
  }

  /** Gives out what was held back because it could have been the beginning of a frame. */
  finish(): void {
    if (!this.#inFrame && this.#held.length > 0) this.#listener.onRest(this.#held);
    this.#held = Buffer.alloc(0);
  }

  #takeRest(): boolean {
    const at = this.#held.indexOf(this.#opening);
    const end = at === -1 ? this.#held.length - partOf(this.#opening, this.#held) : at;
    if (end > 0) this.#listener.onRest(this.#held.subarray(0, end));
    this.#held = this.#held.subarray(at === -1 ? end : at + this.#opening.length);
    this.#inFrame = at !== -1;
    this.#searched = 0;
    return this.#inFrame;
  }

  #takeFrame(): boolean {
    const at = this.#held.indexOf(this.#closing, this.#searched);
    if (at === -1) {
      if (this.#held.length > MAX_BODY_BYTES)
        this.#held = Buffer.from(this.#held.subarray(-this.#closing.length));
      this.#searched = Math.max(0, this.#held.length - this.#closing.length);
      return false;
    }
    const frame = this.#held.subarray(0, at);
    this.#held = this.#held.subarray(at + this.#closing.length);
    this.#inFrame = false;
    const colon = frame.subarray(0, MAX_KIND_BYTES).indexOf(":");
    if (colon !== -1) this.#listener.onFrame(frame.toString("latin1", 0, colon), frame.subarray(colon + 1));
    return this.#held.length > 0;
  }
}

/** How many bytes at the end could be the beginning of `wanted`. */
function partOf(wanted: Buffer, held: Buffer): number {
  for (let length = Math.min(wanted.length - 1, held.length); length > 0; length -= 1) {
    if (held.subarray(held.length - length).equals(wanted.subarray(0, length))) return length;
  }
  return 0;
}
