import { type ErrorCode, failure, HermesError } from "../tool/errors.js";

/** Part of the public interface: scripts branch on them. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  toolError: 3,
  unavailable: 4,
  denied: 5,
  authentication: 6,
  unreachable: 7,
  timeout: 124,
  interrupted: 130,
} as const;

export function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case "bad_request":
    case "invalid_arguments":
    case "not_found":
      return EXIT.usage;
    case "unavailable":
    case "out_of_scope":
      return EXIT.unavailable;
    case "denied":
    case "blocked":
    case "timed_out_waiting":
      return EXIT.denied;
    case "timeout":
      return EXIT.timeout;
    case "cancelled":
      return EXIT.interrupted;
    case "failed":
    case "unknown":
    case "bad_result":
    case "over_budget":
      return EXIT.toolError;
    case "internal":
      return EXIT.unexpected;
  }
}

/** What ends a command: its words, and by its code the exit code. */
export function commandError(code: ErrorCode, message: string, hint?: string): HermesError {
  return new HermesError(failure(code, message, hint));
}
