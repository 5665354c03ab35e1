import { type ErrorCode, type Failure, HermesError, ToolError } from "../tool/errors.js";

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

/** The same with every text masked, however deep it stands. */
export function maskedResponse(value: unknown, redact: (text: string) => string): Response {
  return jsonResponse(maskTexts(value, redact));
}

export function maskTexts<Value>(value: Value, redact: (text: string) => string): Value {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? redact(inner) : inner)),
  ) as Value;
}

export function notFound(message: string, hint: string): Problem {
  return { status: 404, code: "not_found", message, hint };
}

/** What was asked about by its name may not be there; any other error is passed on. */
export async function orNotFound<Value>(work: () => Value | Promise<Value>): Promise<Value | Problem> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof HermesError || ToolError.isInstance(thrown)) || thrown.code !== "not_found")
      throw thrown;
    if (thrown instanceof HermesError) return { ...problemOfThrown(thrown), status: 404 };
    return { status: 404, code: "not_found", message: thrown.message, hint: thrown.hint };
  }
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
  if (ToolError.isInstance(thrown)) {
    const { code, message, hint } = thrown;
    return { status: code === "unavailable" ? 503 : 400, code, message, hint };
  }
  return {
    status: 500,
    code: "internal",
    message: "The server failed to answer this request.",
    hint: "Its log says why.",
  };
}
