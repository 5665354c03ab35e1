import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import type { Fetch, FetchRequest } from "../../tool/fetch.js";
import type { Method, Retries } from "../../toolfile/tool-spec.js";

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

const SAFE_TO_REPEAT: readonly Method[] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"];
const LONGEST_WAIT_MS = 60_000;

interface Sending {
  readonly fetch: Fetch;
  readonly request: FetchRequest;
  readonly signal: AbortSignal;
  readonly method: Method;
  readonly retries: Retries;
  /** `performance.now()` at which everything must be over. */
  readonly endsAt: number;
  onRetry(message: string): void;
}

/** Sends a request, again where that is allowed and promising. Rejects with what the network said. */
export async function send(sending: Sending): Promise<Answer> {
  const { retries, method, endsAt } = sending;
  const tries = retries.anyMethod || SAFE_TO_REPEAT.includes(method) ? retries.max : 0;
  for (let attempt = 0; ; attempt += 1) {
    const last = attempt >= tries;
    let wait = backoff(attempt, retries.delayMs);
    let why: string;
    try {
      const { answer, retryAfterMs } = await once(sending, attempt);
      if (last || !retries.statuses.includes(answer.status)) return answer;
      wait = Math.max(wait, retryAfterMs ?? 0);
      why = `HTTP ${answer.status}`;
      if (!fits(wait, endsAt)) return answer;
    } catch (error) {
      const isOver = last || !retries.networkErrors || sending.signal.aborted || !isNetworkError(error);
      if (isOver || !fits(wait, endsAt)) throw error;
      why = "no answer";
    }
    sending.onRetry(`${why}; trying again in ${(wait / 1000).toFixed(1)} s (${attempt + 1} of ${tries})`);
    await delay(wait, undefined, { signal: sending.signal });
  }
}

function fits(waitMs: number, endsAt: number): boolean {
  return waitMs <= LONGEST_WAIT_MS && performance.now() + waitMs < endsAt;
}

/** No answer at all. What was refused by a rule stays refused, and an answer that is too large stays so. */
function isNetworkError(error: unknown): boolean {
  return ToolError.isInstance(error) && error.details?.errno !== undefined;
}

/** Doubles each time; the random part keeps many callers from coming back at the same moment. */
function backoff(attempt: number, firstMs: number): number {
  return firstMs * 2 ** attempt * (0.5 + Math.random() / 2);
}

async function once(
  { fetch, request, endsAt }: Sending,
  retry: number,
): Promise<{ readonly answer: Answer; readonly retryAfterMs: number | undefined }> {
  const left = Math.max(1, endsAt - performance.now());
  const response = await fetch({ ...request, timeoutMs: Math.ceil(left), retry });
  const answer = {
    status: response.status,
    statusText: response.statusText,
    contentType: response.headers.get("content-type") ?? "",
    bytes: await response.bytes(),
  };
  return { answer, retryAfterMs: retryAfter(response.headers.get("retry-after")) };
}

/** Seconds, or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
