/** Longer than a quick tool takes to answer, or a script to make its next call. */
const SPIN_MS = 0.2;
const MOST_LEFT_OUT = 64;

/**
 * A script that calls one tool after the other is answered within microseconds, and waking a thread that sleeps takes
 * longer than that: so whoever waits stays awake for a moment. That is a waste where the other side gets no processor
 * meanwhile or has more to do: each time it was in vain, it is left out for twice as long.
 */
export class AdaptiveSpin {
  #leaveOut = 0;
  #penalty = 1;

  /** When to give up; undefined when it is not worth trying. */
  begin(): number | undefined {
    if (this.#leaveOut === 0) return performance.now() + SPIN_MS;
    this.#leaveOut -= 1;
    return undefined;
  }

  paidOff(): void {
    this.#penalty = Math.max(1, this.#penalty / 2);
  }

  failed(): void {
    this.#penalty = Math.min(this.#penalty * 2, MOST_LEFT_OUT);
    this.#leaveOut = this.#penalty;
  }
}

/** The same for this event loop, which goes on with whatever else it has to do. */
export class SpinningLoop {
  readonly #spin = new AdaptiveSpin();
  #until: number | undefined;
  #turning = false;

  /** A call was answered, and the next may come at once. */
  answered(): void {
    this.#until = this.#spin.begin();
    if (this.#until === undefined || this.#turning) return;
    this.#turning = true;
    setImmediate(this.#turn);
  }

  called(): void {
    if (this.#until !== undefined) this.#spin.paidOff();
    this.#until = undefined;
  }

  readonly #turn = (): void => {
    this.#turning = false;
    if (this.#until === undefined) return;
    if (performance.now() < this.#until) {
      this.#turning = true;
      setImmediate(this.#turn);
    } else {
      this.#spin.failed();
      this.#until = undefined;
    }
  };
}
