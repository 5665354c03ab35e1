/** Events in the order they came, for one reader who asks for the next. */
export class EventQueue<T> {
  readonly #events: T[] = [];
  #waiting: { resolve(event: T): void; reject(error: Error): void } | undefined;
  #failed: Error | undefined;

  push(event: T): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#events.push(event);
    else waiting.resolve(event);
  }

  /** Nothing more will come. */
  fail(error: Error): void {
    this.#failed ??= error;
    this.#waiting?.reject(this.#failed);
    this.#waiting = undefined;
  }

  next(): Promise<T> {
    const [event] = this.#events.splice(0, 1);
    if (event !== undefined) return Promise.resolve(event);
    if (this.#failed !== undefined) return Promise.reject(this.#failed);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }
}
