/** Lets only so many through at a time; the others wait in order. */
export class Gate {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async through<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#inside >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // Whoever comes next takes the place that is left.
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
