/** What is committed is on the disk about this much later. */
const DELAY_MS = 25;

/**
 * A commit reaches the page cache, which survives `kill -9`. The sync that makes it survive a power cut follows for all
 * commits of a short while together; only while the disk refuses does everybody wait for it, and is told.
 */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #diskRefuses = false;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** To be awaited after a commit, before it is answered. */
  async committed(): Promise<void> {
    if (this.#diskRefuses) return this.#now();
    this.#timer ??= setTimeout(() => void this.#now().catch(ignore), DELAY_MS).unref();
  }

  async close(): Promise<void> {
    if (this.#timer !== undefined || this.#diskRefuses) await this.#now().catch(ignore);
  }

  async #now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#sync();
      this.#diskRefuses = false;
    } catch (error) {
      this.#diskRefuses = true;
      throw error;
    }
  }
}

/** Whoever writes next is told. */
function ignore(): void {}
