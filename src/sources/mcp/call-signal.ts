const NOBODY: readonly (() => void)[] = [];

/**
 * As much of an `AbortSignal` as the SDK looks at for a request. A real one costs a noticeable part of a small call,
 * and most calls are never cancelled.
 */
export class CallSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: readonly (() => void)[] = NOBODY;

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners =
      this.#listeners.length === 1 && this.#listeners[0] === listener
        ? NOBODY
        : this.#listeners.filter((other) => other !== listener);
  }

  abort(reason: string): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }
}
