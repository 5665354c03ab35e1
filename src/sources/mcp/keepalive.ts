import type { Client } from "@modelcontextprotocol/client";
import { isRefusal } from "./connect-errors.js";

const ANSWER_MS = 5_000;
/** For one that has been silent before. */
const SECOND_ANSWER_MS = 3_000;

export interface KeepaliveOptions {
  readonly client: Client;
  readonly everyMs: number;
  /** While it works on something it may be unable to answer; that work has a time limit of its own. */
  readonly isBusy: () => boolean;
  /** It did not answer once. */
  readonly onLate: () => void;
  /** It answers again. */
  readonly onBack: () => void;
  /** It did not answer twice. */
  readonly onDead: () => void;
}

/** Looks from time to time whether a silent server is still there. */
export class Keepalive {
  readonly #options: KeepaliveOptions;
  readonly #timer: NodeJS.Timeout;
  #missed = 0;
  #looking: Promise<boolean> | undefined;
  #stopped = false;

  constructor(options: KeepaliveOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void (options.isBusy() || this.look()), options.everyMs);
    this.#timer.unref();
  }

  /** A call got no sign of life in its time: that is once. */
  silent(): void {
    if (this.#looking !== undefined) return;
    this.#missed = Math.max(1, this.#missed);
    void this.look();
  }

  /** Asks now; whether it answered. */
  look(): Promise<boolean> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  async #ask(): Promise<boolean> {
    const answered = await this.#answers();
    if (this.#stopped) return answered;
    if (answered) {
      if (this.#missed > 0) this.#options.onBack();
      this.#missed = 0;
      return true;
    }
    this.#missed += 1;
    if (this.#missed === 1) {
      this.#options.onLate();
      // Once may be chance; twice in a row is not.
      return this.#ask();
    }
    this.#options.onDead();
    return false;
  }

  async #answers(): Promise<boolean> {
    const { client } = this.#options;
    const timeout = this.#missed === 0 ? ANSWER_MS : SECOND_ANSWER_MS;
    try {
      // The newer protocol has no ping; it may be asked what it is at any time.
      if (client.getProtocolEra() === "modern") await client.discover({ timeout });
      else await client.ping({ timeout });
      return true;
    } catch (error) {
      return isRefusal(error);
    }
  }
}
