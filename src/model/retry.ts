import { pause } from "../base/deadline.js";
import { type ModelClient, ModelError, type ModelErrorCode, type ModelPart } from "./model-client.js";

export interface Retry {
  /** Counted from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ModelError;
}

export interface RetryOptions {
  /** Told before each wait: nobody retries unseen. */
  onRetry?(retry: Retry): void;
  /** Of the first wait; each following one is twice as long. */
  readonly baseMs?: number | undefined;
}

/** How often each kind of trouble is tried again; what is not named does not pass by itself. */
const MOST: Readonly<Partial<Record<ModelErrorCode, number>>> = { busy: 5, broken_off: 5, unreachable: 2 };
const BASE_MS = 1_000;
const LONGEST_MS = 30_000;
/** A server that wants to be left alone for longer is told to the person instead. */
const LONGEST_ASKED_MS = 120_000;

/**
 * Tries again what may pass: with back-off, as long as the server asks for, a few times. An answer of which something
 * was passed on already is not begun anew here: whoever has shown it has to decide.
 */
export function withRetries(client: ModelClient, options: RetryOptions = {}): ModelClient {
  return {
    async *stream(request) {
      const signal = request.signal ?? new AbortController().signal;
      for (let attempt = 1; ; attempt++) {
        let began = false;
        try {
          for await (const part of client.stream(request)) {
            began ||= !isFinish(part);
            yield part;
          }
          return;
        } catch (error) {
          const waitMs = began
            ? undefined
            : waitBefore(error, { attempt, baseMs: options.baseMs ?? BASE_MS });
          if (waitMs === undefined || !ModelError.isInstance(error)) throw error;
          options.onRetry?.({ attempt, waitMs, error });
          await pause(waitMs, signal);
          signal.throwIfAborted();
        }
      }
    },
  };
}

function isFinish(part: ModelPart): boolean {
  return part.type === "finish";
}

/** Undefined: not again. */
function waitBefore(
  error: unknown,
  { attempt, baseMs }: { readonly attempt: number; readonly baseMs: number },
): number | undefined {
  if (!ModelError.isInstance(error) || attempt > (MOST[error.code] ?? 0)) return undefined;
  const { retryAfterMs } = error;
  if (retryAfterMs !== undefined) return retryAfterMs > LONGEST_ASKED_MS ? undefined : retryAfterMs;
  const most = Math.min(LONGEST_MS, baseMs * 2 ** (attempt - 1));
  // Half of it by chance: clients that were refused together should not come back together.
  return most / 2 + Math.random() * (most / 2);
}
