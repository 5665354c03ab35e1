/**
 * The closed set of ways a call can end without a result. Programs switch on the code; the model reads
 * the message.
 */
export const ERROR_CODES = [
  "bad_request",
  "not_found",
  "out_of_scope",
  "unavailable",
  "invalid_arguments",
  "blocked",
  "denied",
  "timed_out_waiting",
  "over_budget",
  "timeout",
  "cancelled",
  /** Where it ran was lost; what it did there nobody knows. */
  "unknown",
  "failed",
  "bad_result",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An expected failure, as a value. `hint` says what to do next. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function failure(code: ErrorCode, message: string, hint?: string): Failure {
  return hint === undefined ? { code, message } : { code, message, hint };
}

const toolErrorMark = Symbol.for("hermes-tools.ToolError");

/**
 * Thrown by a handler to end its call with a message of its own choosing. Any other thrown value becomes
 * "Tool execution failed: Type: message".
 */
export class ToolError extends Error {
  readonly [toolErrorMark] = true;
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** Extra fields that a program may want next to the message (exit codes, similar names, …). */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Who outside wrote words of the message (a server, an address): the model gets it in a frame that says so. */
  readonly from: string | undefined;

  constructor(
    message: string,
    options: {
      code?: ErrorCode | undefined;
      hint?: string | undefined;
      details?: Record<string, unknown> | undefined;
      from?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolError";
    this.code = options.code ?? "failed";
    this.hint = options.hint;
    this.details = options.details;
    this.from = options.from;
  }

  /** Works across two copies of the package, where `instanceof` does not. */
  static isInstance(value: unknown): value is ToolError {
    return carries(value, toolErrorMark);
  }
}

/** Thrown by the runtime's own functions when they are used wrongly; calls themselves never throw. */
export class HermesError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(problem: Failure) {
    super(problem.hint === undefined ? problem.message : `${problem.message}. ${problem.hint}`);
    this.name = "HermesError";
    this.code = problem.code;
    this.hint = problem.hint;
  }
}

/** Whether an object carries a mark. Thrown and returned values may be proxies that refuse to be looked at. */
export function carries(value: unknown, mark: symbol): boolean {
  try {
    return typeof value === "object" && value !== null && mark in value;
  } catch {
    return false;
  }
}
