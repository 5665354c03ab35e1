/** What one process may print before others have their turn, when many print at once. */
const LEAST_BYTES = 65_536;
/** What all of them together may print in one turn of the event loop: some milliseconds' work. */
const TURN_BYTES = 1024 * 1024;
/** What held the loop up meanwhile need not have been the reading. */
const LONGEST_REST_MS = 100;

export interface FlowSource {
  pauseOutput(paused: boolean): void;
}

/**
 * Shares the event loop among processes that print more than can be read: each turn reads a few of them and
 * leaves the others waiting in their pipes, so that hundreds of them cannot keep anybody else from an answer. After a
 * full turn nothing is read for as long as that took: who always has something to do waits for a processor like
 * all those that print.
 */
export class FlowControl {
  /** Those that are read as soon as they print something. */
  readonly #open = new Set<FlowSource>();
  #waiting: FlowSource[] = [];
  /** Bytes that came in this turn. */
  #taken = 0;
  #takenSince = 0;
  #planned = false;

  add(source: FlowSource): void {
    this.#open.add(source);
  }

  remove(source: FlowSource): void {
    if (this.#open.delete(source)) return;
    this.#waiting = this.#waiting.filter((one) => one !== source);
    // Something it started may still print into the void.
    source.pauseOutput(false);
  }

  /** Bytes after which a source should wait for its next turn. */
  get allowance(): number {
    return Math.max(LEAST_BYTES, Math.floor(TURN_BYTES / (this.#waiting.length + 1)));
  }

  took(bytes: number): void {
    if (this.#taken === 0) this.#takenSince = performance.now();
    this.#taken += bytes;
    this.#plan();
    // All that wait for their pipe could find something in it in this very turn.
    if (this.#taken >= TURN_BYTES) for (const source of this.#open) this.wait(source);
  }

  /** Stops the source and lets it go on when it is its turn. */
  wait(source: FlowSource): void {
    if (!this.#open.delete(source)) return;
    source.pauseOutput(true);
    this.#waiting.push(source);
    this.#plan();
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const isFull = this.#taken >= TURN_BYTES;
    this.#taken = 0;
    if (isFull) {
      setTimeout(() => this.#turn(), Math.min(performance.now() - this.#takenSince, LONGEST_REST_MS));
      return;
    }
    const next = this.#waiting.splice(0, Math.max(1, Math.floor(TURN_BYTES / LEAST_BYTES)));
    this.#planned = false;
    if (this.#waiting.length > 0) this.#plan();
    for (const source of next) {
      this.#open.add(source);
      source.pauseOutput(false);
    }
  }
}
