import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";

const RETRIES = 3;
const FIRST_PAUSE_MS = 500;

/**
 * Tries again when an environment elsewhere could not be reached, but only when the error says that nothing
 * was started there: running a command twice is worse than not running it.
 */
export async function withConnectRetries<T>(
  work: () => Promise<T>,
  options: { readonly signal: AbortSignal; readonly onRetry: (message: string) => void },
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RETRIES || options.signal.aborted || !neverStarted(error)) throw error;
      const pause = FIRST_PAUSE_MS * 2 ** attempt;
      options.onRetry(`not reached, trying again in ${pause} ms`);
      await delay(pause, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

function neverStarted(error: unknown): boolean {
  return (
    ToolError.isInstance(error) && error.code === "unavailable" && error.details?.nothing_started === true
  );
}
