export const INITIAL_TRIES = 3;
export const RECONNECT_TRIES = 5;
export const PARKED_MS = 300_000;

const FIRST_MS = 300;
const LONGEST_MS = 60_000;
const GROWTH = 3;

/** How long to wait before the next try: soon at first, then longer, and never in step with others. */
export function retryDelay(failures: number, random: () => number = Math.random): number {
  const step = Math.min(FIRST_MS * GROWTH ** Math.max(0, failures - 1), LONGEST_MS);
  return Math.round(step * (0.75 + random() * 0.25));
}
