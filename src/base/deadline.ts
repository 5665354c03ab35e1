export const LATE: unique symbol = Symbol("late");

/**
 * What the work comes to, or LATE when it takes longer than `ms`. Late work runs on, as JavaScript cannot be ended from
 * outside; how it ends then concerns nobody.
 */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same where being late is an error: `otherwise` says what did not happen, "it did not answer". */
export async function inTime<T>(
  work: Promise<T>,
  { ms, otherwise }: { readonly ms: number; readonly otherwise: string },
): Promise<T> {
  const outcome = await within(work, ms);
  if (outcome === LATE) throw new Error(`${otherwise} within ${ms / 1_000} s`);
  return outcome;
}

/** What the work comes to, or the signal's reason as an error once it is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  let stop: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      work.then(resolve, reject);
    });
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}

/** Resolves when the signal is aborted. `unwatch` takes the listener off again. */
export function aborted(signal: AbortSignal, unwatch?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener("abort", () => resolve(), { once: true, ...(unwatch && { signal: unwatch }) });
  });
}

/** Resolves after that time, or when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const watch = new AbortController();
  await within(aborted(signal, watch.signal), ms);
  watch.abort();
}
