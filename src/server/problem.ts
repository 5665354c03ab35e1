import { type ErrorCode, type Failure, HermesError } from "../tool/errors.js";

/** Codes of whole requests, beside those of single calls. The set is closed: programs switch on it. */
export const HTTP_ERROR_CODES = [
  "unauthenticated",
  "forbidden",
  "method_not_allowed",
  "conflict",
  "too_large",
  "unsupported",
  "busy",
] as const;

export type HttpErrorCode = ErrorCode | (typeof HTTP_ERROR_CODES)[number];

/** Why a request as a whole is not answered; the body of the answer is `{"error":{code,message,hint}}`. */
export interface Problem {
  readonly status: number;
  readonly code: HttpErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export const JSON_TYPE = "application/json; charset=utf-8";

export function isProblem(value: object): value is Problem {
  return "status" in value && "code" in value;
}

export function problemText({ code, message, hint }: Problem): string {
  return JSON.stringify({ error: { code, message, hint } });
}

export function problemResponse(problem: Problem): Response {
  return new Response(problemText(problem), {
    status: problem.status,
    headers: { "content-type": JSON_TYPE, ...problem.headers },
  });
}

export function jsonResponse(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "content-type": JSON_TYPE } });
}

/** A request that was understood as far as it goes but cannot be carried out as written. */
export function badRequest({ code, message, hint }: Failure): Problem {
  return { status: 400, code, message, hint };
}

/** What a caller may know of something thrown: its own mistake in full, a defect of ours not at all. */
export function problemOfThrown(thrown: unknown): Problem {
  if (thrown instanceof HermesError) {
    const { code, hint } = thrown;
    const message = hint === undefined ? thrown.message : thrown.message.slice(0, -(hint.length + 2));
    return { status: code === "unavailable" ? 503 : 400, code, message, hint };
  }
  return {
    status: 500,
    code: "internal",
    message: "The server failed to answer this request.",
    hint: "Its log says why.",
  };
}
