/** Numbers of the watch rules; times in milliseconds. */
export const WATCH_LIMITS = {
  /** Between two notices of one process. */
  apartMs: 15_000,
  /** Windows in a row in which more matched than was told. */
  strikes: 3,
  /** Notices of one process in its life. */
  lifetime: 8,
  /** Notices of all processes together within `breakerWindowMs`. */
  breakerNotices: 15,
  breakerWindowMs: 10_000,
  breakerPauseMs: 30_000,
} as const;

export type WatchDecision =
  | { readonly tell: true; readonly suppressed: number; readonly last: boolean }
  | { readonly tell: false; readonly switchedOff?: string };

/** Stops the notices of all processes together when there are too many for anybody to read. */
export class WatchBreaker {
  #recent: number[] = [];
  #closedUntil = Number.NEGATIVE_INFINITY;

  /** True when a notice may be sent now; it is then counted. */
  passes(now: number): boolean {
    if (now < this.#closedUntil) return false;
    this.#recent = this.#recent.filter((at) => now - at < WATCH_LIMITS.breakerWindowMs);
    if (this.#recent.length >= WATCH_LIMITS.breakerNotices) {
      this.#closedUntil = now + WATCH_LIMITS.breakerPauseMs;
      this.#recent = [];
      return false;
    }
    this.#recent.push(now);
    return true;
  }
}

/**
 * When a match is told. Each notice opens a window in which further matches are only counted; a window with
 * such matches is a strike, and after three in a row watching gives way to a notice at the end.
 */
export class WatchRules {
  readonly #breaker: WatchBreaker;
  #toldAt = Number.NEGATIVE_INFINITY;
  #suppressed = 0;
  #strikes = 0;
  #told = 0;
  #off = false;

  constructor(breaker: WatchBreaker) {
    this.#breaker = breaker;
  }

  get off(): boolean {
    return this.#off;
  }

  matched(now: number): WatchDecision {
    if (this.#off) return { tell: false };
    if (now - this.#toldAt < WATCH_LIMITS.apartMs) {
      if (this.#suppressed === 0) this.#strikes += 1;
      this.#suppressed += 1;
      if (this.#strikes < WATCH_LIMITS.strikes) return { tell: false };
      this.#off = true;
      return { tell: false, switchedOff: "it matched far too often" };
    }
    if (!this.#breaker.passes(now)) {
      this.#suppressed += 1;
      return { tell: false };
    }
    const suppressed = this.#suppressed;
    if (suppressed === 0) this.#strikes = 0;
    this.#suppressed = 0;
    this.#toldAt = now;
    this.#told += 1;
    const last = this.#told >= WATCH_LIMITS.lifetime;
    if (last) this.#off = true;
    return { tell: true, suppressed, last };
  }
}
