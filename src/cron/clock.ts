/** Time, as the scheduler knows it; tests bring their own. */
export interface Clock {
  now(): number;
  /** Runs it once after so many milliseconds; the answer takes it back. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
