import { EventEmitter, once } from "node:events";
import type { Readable } from "node:stream";

const AHEAD_BYTES = 4_194_304;
const BEHIND_BYTES = 4_194_304;

/**
 * What a program printed, readable from an offset: a client whose connection broke asks again from where it was.
 * A program that prints faster than anybody reads has to wait.
 */
export class RetainedOutput {
  readonly #source: Readable;
  readonly #changed = new EventEmitter();
  #chunks: Buffer[] = [];
  #firstOffset = 0;
  #end = 0;
  #readUpTo = 0;
  #done = false;

  constructor(source: Readable) {
    this.#source = source;
    this.#changed.setMaxListeners(0);
    source.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#end += chunk.length;
      if (this.#end - this.#readUpTo > AHEAD_BYTES) source.pause();
      this.#changed.emit("change");
    });
    source.on("close", () => {
      this.#done = true;
      this.#changed.emit("change");
    });
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    let offset = from;
    while (!signal.aborted) {
      const chunk = this.#at(offset);
      if (chunk !== undefined) {
        yield chunk;
        offset += chunk.length;
        this.#wasRead(offset);
      } else if (this.#done) return;
      else await once(this.#changed, "change", { signal }).catch(() => {});
    }
  }

  #at(offset: number): Buffer | undefined {
    if (offset < this.#firstOffset)
      throw new Error(`output before ${this.#firstOffset} is not kept any more`);
    let start = this.#firstOffset;
    for (const chunk of this.#chunks) {
      if (offset < start + chunk.length) return chunk.subarray(offset - start);
      start += chunk.length;
    }
    return undefined;
  }

  #wasRead(offset: number): void {
    this.#readUpTo = Math.max(this.#readUpTo, offset);
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#firstOffset + first.length > this.#readUpTo - BEHIND_BYTES) break;
      this.#firstOffset += first.length;
      this.#chunks.shift();
    }
    if (this.#source.isPaused() && this.#end - this.#readUpTo < AHEAD_BYTES / 2) this.#source.resume();
  }
}
