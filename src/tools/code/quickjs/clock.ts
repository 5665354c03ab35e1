/** Counts down while it is not paused. */
export class PausableTimer {
  readonly #onEnd: () => void;
  #leftMs: number;
  #pauses = 0;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#run();
  }

  /** Pauses add up: it goes on when as many have ended as have begun. */
  pause(begins: boolean): void {
    const ran = this.#pauses === 0;
    this.#pauses = Math.max(0, this.#pauses + (begins ? 1 : -1));
    const runs = this.#pauses === 0;
    if (this.#stopped || ran === runs) return;
    if (runs) this.#run();
    else {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#startedAt;
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#onEnd(), Math.max(0, this.#leftMs));
  }
}
