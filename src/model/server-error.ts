import { ModelError, type ModelErrorCode } from "./model-client.js";
import { field } from "./wire.js";

const TOO_LONG =
  /context[_ ]length|context[_ ]window|maximum context|prompt is too long|input is too long|too many (?:input )?tokens|(?:input|prompt) tokens? (?:count )?exceeds?|exceeds? the (?:maximum|available|model's) (?:number of tokens|context|context size)|exceed_context_size/i;
const EMPTY_ACCOUNT =
  /insufficient_quota|credit balance|insufficient (?:balance|credits|funds)|billing|exceeded your current quota|payment required|spend(?:ing)? limit/i;
const WRONG_KEY =
  /api[_ ]key[_ ](?:not valid|invalid)|invalid[_ ]api[_ ]key|authentication_error|permission_error/i;
const MAY_PASS =
  /overloaded|rate_limit|server_error|api_error|internal|unavailable|resource_exhausted|timeout|try again/i;
/** Too early, too many, and trouble of the server or of what stands before it. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);

/** Why a server answered with something else than an answer. Its own words decide, and are not repeated. */
export function statusError(answer: {
  readonly status: number;
  readonly complaint: string;
  readonly headers?: Headers | undefined;
}): ModelError {
  const { status, complaint, headers } = answer;
  const code = codeOf(status, complaint);
  const words = `the model's server answered ${status}${ADDED[code] ?? ""}`;
  return new ModelError(code, words, status, retryAfter(headers, complaint));
}

/** An error that came in the middle of a stream, as the object the server sent for it. */
export function streamedError(error: unknown): ModelError {
  const complaint = JSON.stringify(error ?? "") ?? "";
  const status = Number(field(error, "code") ?? field(error, "status"));
  if (Number.isInteger(status) && status >= 400 && status < 600) return statusError({ status, complaint });
  const code: ModelErrorCode = TOO_LONG.test(complaint)
    ? "too_long"
    : EMPTY_ACCOUNT.test(complaint)
      ? "quota"
      : WRONG_KEY.test(complaint)
        ? "refused"
        : MAY_PASS.test(complaint)
          ? "busy"
          : "bad_answer";
  return new ModelError(code, `the model's server failed in the middle of its answer${ADDED[code] ?? ""}`);
}

const ADDED: Partial<Record<ModelErrorCode, string>> = {
  busy: ": it is busy",
  quota: ": the account has no money or quota left",
  refused: ": the key is wrong or may not do this",
  too_long: ": that is more than the model can read",
};

function codeOf(status: number, complaint: string): ModelErrorCode {
  if (status === 402) return "quota";
  if (status === 413) return "too_long";
  if (EMPTY_ACCOUNT.test(complaint) && (status === 400 || status === 403 || status === 429)) return "quota";
  if (status === 401 || status === 403) return "refused";
  if (status === 400 && WRONG_KEY.test(complaint)) return "refused";
  if (status < 500 && status !== 429 && TOO_LONG.test(complaint)) return "too_long";
  return PASSING.has(status) ? "busy" : "status";
}

/** Seconds or a date in the header; Gemini says it in the body. */
function retryAfter(headers: Headers | undefined, complaint: string): number | undefined {
  const ms = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const said = headers?.get("retry-after") ?? "";
  if (/^\d+(?:\.\d+)?$/.test(said.trim())) return Number(said) * 1_000;
  const date = Date.parse(said);
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  const inBody = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(complaint)?.[1];
  return inBody === undefined ? undefined : Number(inBody) * 1_000;
}
