import type { Readable } from "node:stream";

const WINDOW_MS = 50;

/** Reads a stream no faster than so much per moment; whoever writes more has to wait, and nobody else does. */
export class RateWindow {
  readonly #stream: Readable;
  readonly #most: number;
  #used = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Readable, mostPerWindow: number) {
    this.#stream = stream;
    this.#most = mostPerWindow;
  }

  count(amount: number): void {
    const now = performance.now();
    if (now - this.#since > WINDOW_MS) {
      this.#since = now;
      this.#used = 0;
    }
    this.#used += amount;
    if (this.#used <= this.#most || this.#timer !== undefined) return;
    this.#stream.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#stream.resume();
    }, WINDOW_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
