/** How exact a long deadline is. */
const TICK_MS = 100;
/** Shorter deadlines get a timer of their own, so that they are exact. */
const LONG_MS = 10_000;

/** Cancels a deadline; calling it twice is harmless. */
export type CancelDeadline = () => void;

interface Pending {
  readonly at: number;
  readonly fire: () => void;
}

const pending = new Set<Pending>();
let ticker: NodeJS.Timeout | undefined;

/**
 * Calls `fire` after `delayMs` unless cancelled. Most calls end long before their deadline of minutes, and a
 * timer for each would be the most expensive part of a small call: they share one ticker. It keeps the
 * process alive only while something is pending.
 */
export function setDeadline(delayMs: number, fire: () => void): CancelDeadline {
  if (delayMs < LONG_MS) {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  }
  const deadline: Pending = { at: performance.now() + delayMs, fire };
  if (ticker === undefined) ticker = setInterval(tick, TICK_MS);
  else if (pending.size === 0) ticker.ref();
  pending.add(deadline);
  return () => {
    if (pending.delete(deadline) && pending.size === 0) ticker?.unref();
  };
}

function tick(): void {
  if (pending.size === 0) {
    clearInterval(ticker);
    ticker = undefined;
    return;
  }
  const now = performance.now();
  for (const deadline of [...pending]) {
    if (deadline.at > now) continue;
    pending.delete(deadline);
    if (pending.size === 0) ticker?.unref();
    deadline.fire();
  }
}
