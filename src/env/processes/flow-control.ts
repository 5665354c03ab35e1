/** What one process may print before others have their turn, when many print at once. */
const LEAST_BYTES = 65_536;
/** What all of them together may print in one turn of the event loop. */
const TURN_BYTES = 4 * 1024 * 1024;

export interface FlowSource {
  pauseOutput(paused: boolean): void;
}

/**
 * Shares the event loop among processes that print more than can be read: each turn reads a few of them and
 * leaves the others waiting in their pipes, so that hundreds of them cannot keep anybody else from an answer.
 */
export class FlowControl {
  /** Those that are read as soon as they print something. */
  readonly #open = new Set<FlowSource>();
  #waiting: FlowSource[] = [];
  /** Bytes that came in this turn. */
  #taken = 0;
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
    this.#taken = 0;
    const next = this.#waiting.splice(0, Math.max(1, Math.floor(TURN_BYTES / LEAST_BYTES)));
    this.#planned = false;
    if (this.#waiting.length > 0) this.#plan();
    for (const source of next) {
      this.#open.add(source);
      source.pauseOutput(false);
    }
  }
}
