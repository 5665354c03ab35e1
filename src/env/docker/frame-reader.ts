const HEADER_BYTES = 8;
const STDERR = 2;

export interface FrameListeners {
  onStdout(bytes: Uint8Array): void;
  onStderr(bytes: Uint8Array): void;
}

/**
 * Takes apart what an engine sends for a program without a terminal: blocks with a header of eight bytes (stream,
 * three zeros, length), cut anywhere on the way. Payload is handed on as it comes, without copies.
 */
export class FrameReader {
  readonly #listeners: FrameListeners;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;

  constructor(listeners: FrameListeners) {
    this.#listeners = listeners;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft === 0) {
        const taken = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes);
        this.#headerBytes += taken;
        at += taken;
        if (this.#headerBytes < HEADER_BYTES) return;
        this.#headerBytes = 0;
        this.#payloadLeft = this.#header.readUInt32BE(4);
        continue;
      }
      const bytes = chunk.subarray(at, at + this.#payloadLeft);
      at += bytes.length;
      this.#payloadLeft -= bytes.length;
      if (this.#header[0] === STDERR) this.#listeners.onStderr(bytes);
      else this.#listeners.onStdout(bytes);
    }
  }
}
