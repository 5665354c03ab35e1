import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** What went wrong while `doing`, as an error that says what to do about it. */
export function modalError(doing: string, error: unknown): ToolError {
  if (ToolError.isInstance(error)) return error;
  return new ToolError(`Could not ${doing}: ${modalReason(error)}.`, {
    code: "unavailable",
    hint: hintFor(error),
    cause: error,
  });
}

export function modalReason(error: unknown): string {
  const details = (error as { details?: unknown } | undefined)?.details;
  const text = typeof details === "string" && details !== "" ? details : messageOf(error);
  return text.trim().replace(/\.$/, "");
}

function hintFor(error: unknown): string {
  switch (grpcCode(error)) {
    case UNAUTHENTICATED:
    case PERMISSION_DENIED:
      return "Check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or make a new token with `modal token new`.";
    case RESOURCE_EXHAUSTED:
      return "The account's limits are reached; stop other sandboxes or raise the limits at Modal.";
    case UNAVAILABLE:
      return "Check the network and the service's status page, then try again.";
    case NOT_FOUND:
      return "Check the names of the image, the app and the Modal environment in the configuration.";
    default:
      return "Try again; if it stays like this, look at the app's sandboxes at modal.com.";
  }
}

function grpcCode(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}
