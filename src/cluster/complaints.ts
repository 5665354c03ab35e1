import type { Logger } from "../observe/log.js";

const QUIET_MS = 60_000;

/** What comes every second is told once a minute: a machine with another secret would fill everybody's log. */
export class Complaints {
  readonly #log: Logger;
  readonly #told = new Map<string, { at: number; more: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `topic`: one of a few. */
  about(topic: string, line: string): void {
    const now = performance.now();
    const told = this.#told.get(topic);
    if (told !== undefined && now - told.at < QUIET_MS) {
      told.more += 1;
      return;
    }
    const more = told?.more ?? 0;
    this.#log.warn(more > 0 ? `${line} (${more} more since it was said the last time)` : line);
    this.#told.set(topic, { at: now, more: 0 });
  }
}
