/** How much the server may send before it hears that it was taken, which is also what a pause holds at most. */
export const RECEIVE_WINDOW = 2_097_152;

export interface OutputListener {
  onStdout(bytes: Uint8Array): void;
  onStderr(bytes: Uint8Array): void;
  /** The server may send as many bytes more. */
  widen(bytes: number): void;
}

/** What a program prints, and the window that makes it wait while nobody takes it. */
export class ChannelOutput {
  readonly #listener: OutputListener;
  #taken = 0;
  #paused = false;
  #held: { readonly bytes: Uint8Array; readonly stream: "onStdout" | "onStderr" }[] = [];
  #dropping = false;
  #whenDelivered: (() => void) | undefined;

  constructor(listener: OutputListener) {
    this.#listener = listener;
  }

  received(bytes: Uint8Array, stream: "onStdout" | "onStderr"): void {
    if (this.#paused && !this.#dropping) this.#held.push({ bytes, stream });
    else this.#deliver(bytes, stream);
  }

  pause(paused: boolean): void {
    this.#paused = paused;
    while (!this.#paused) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#deliver(next.bytes, next.stream);
    }
    this.#settle();
  }

  /** What is held and what still comes is nobody's any more. */
  drop(): void {
    this.#dropping = true;
    this.#held = [];
    this.#settle();
  }

  /** Calls back when the last byte has been given out; nothing may be received after this. */
  finish(delivered: () => void): void {
    this.#whenDelivered = delivered;
    this.#settle();
  }

  #settle(): void {
    if (this.#held.length > 0 || this.#whenDelivered === undefined) return;
    this.#whenDelivered();
    this.#whenDelivered = undefined;
  }

  #deliver(bytes: Uint8Array, stream: "onStdout" | "onStderr"): void {
    this.#taken += bytes.length;
    if (!this.#dropping) {
      try {
        this.#listener[stream](bytes);
      } catch {
        // A listener's mistake must not take the other programs of the connection down.
      }
    }
    if (this.#taken < RECEIVE_WINDOW / 2) return;
    this.#listener.widen(this.#taken);
    this.#taken = 0;
  }
}
