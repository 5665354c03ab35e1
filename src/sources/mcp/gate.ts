/** Lets only so many through at a time; the others wait in order. */
export class Gate {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when the work is done, or without it when it is called off while it waits. */
  async through(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#inside < this.#most) this.#inside += 1;
    else if (!(await this.#turn(signal))) return;
    try {
      await work();
    } finally {
      const [next] = this.#waiting;
      // Whoever comes next takes the place that is left.
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }

  /** Whether a place was left before it was called off. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (hasPlace: boolean) => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", callOff);
        resolve(hasPlace);
      };
      const enter = () => leave(true);
      const callOff = () => leave(false);
      this.#waiting.add(enter);
      signal.addEventListener("abort", callOff, { once: true });
      if (signal.aborted) callOff();
    });
  }
}
