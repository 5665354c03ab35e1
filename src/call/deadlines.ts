/** How exact a long deadline is. */
const TICK_MS = 100;
/** Shorter deadlines get a timer of their own, so that they are exact. */
const LONG_MS = 10_000;

/** Something that ends at a time unless it is cancelled before. */
export interface Deadline {
  /** Set by `setDeadline`. */
  dueAt: number;
  /** Set by `setDeadline` for short ones. */
  timer: NodeJS.Timeout | undefined;
  fire(): void;
}

const pending = new Set<Deadline>();
let ticker: NodeJS.Timeout | undefined;

/**
 * Calls `fire` after `delayMs` unless cancelled. Most calls end long before their deadline of minutes, and a
 * timer for each would be the most expensive part of a small call: they share one ticker, which keeps the
 * process alive only while something is pending.
 */
export function setDeadline(deadline: Deadline, delayMs: number): void {
  if (delayMs < LONG_MS) {
    deadline.timer = setTimeout(() => deadline.fire(), delayMs);
    return;
  }
  deadline.dueAt = performance.now() + delayMs;
  if (ticker === undefined) ticker = setInterval(tick, TICK_MS);
  else if (pending.size === 0) ticker.ref();
  pending.add(deadline);
}

/** Harmless when it has fired or was cancelled already. */
export function cancelDeadline(deadline: Deadline): void {
  if (deadline.timer !== undefined) {
    clearTimeout(deadline.timer);
    // The next time it is set it may be a long one.
    deadline.timer = undefined;
  } else if (pending.delete(deadline) && pending.size === 0) ticker?.unref();
}

function tick(): void {
  if (pending.size === 0) {
    clearInterval(ticker);
    ticker = undefined;
    return;
  }
  const now = performance.now();
  for (const deadline of [...pending]) {
    if (deadline.dueAt > now) continue;
    cancelDeadline(deadline);
    deadline.fire();
  }
}
