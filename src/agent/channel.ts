/** Values from whoever pushes, in order, for one reader; ends when it is closed. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #closed = false;
  #wake: (() => void) | undefined;

  push(value: T): void {
    this.#waiting.push(value);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const values = this.#waiting.splice(0);
      yield* values;
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
      this.#wake = undefined;
    }
  }
}
