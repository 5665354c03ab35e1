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
  #waiting: FlowSource[] = [];
  #planned = false;

  /** Bytes after which a source should wait for its next turn. */
  get allowance(): number {
    return Math.max(LEAST_BYTES, Math.floor(TURN_BYTES / (this.#waiting.length + 1)));
  }

  /** Stops the source and lets it go on when it is its turn. */
  wait(source: FlowSource): void {
    source.pauseOutput(true);
    this.#waiting.push(source);
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const next = this.#waiting.splice(0, Math.max(1, Math.floor(TURN_BYTES / LEAST_BYTES)));
    this.#planned = this.#waiting.length > 0;
    if (this.#planned) setImmediate(() => this.#turn());
    for (const source of next) source.pauseOutput(false);
  }
}
