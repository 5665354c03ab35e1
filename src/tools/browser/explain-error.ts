import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** What the library says, in words for whoever made the call. */
export function explained(error: unknown, signal: AbortSignal): unknown {
  if (ToolError.isInstance(error)) return error;
  // A mistake of this program is not the browser's.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)
    return error;
  if (signal.aborted) return new ToolError("The call was cancelled.", { code: "cancelled", cause: error });
  const message = messageOf(error);
  if (/crashed/i.test(message))
    return new ToolError("The page crashed.", {
      hint: "Open it again with browser_navigate; if it crashes each time, it may be too large.",
      cause: error,
    });
  if (/has been closed|Target closed|browser has disconnected|Browser closed/i.test(message))
    return new ToolError("The page was closed, or its browser ended, before this was done.", {
      hint: "Open it again with browser_navigate.",
      cause: error,
    });
  const late = /Timeout (\d+)ms exceeded/i.exec(message);
  if (late !== null) {
    const cause =
      /[^\n]*(?:intercepts pointer events|not visible|not enabled|not stable|not editable|outside of the viewport)[^\n]*/.exec(
        message,
      )?.[0];
    const why = cause === undefined ? "" : `: ${cause.replace(/^[\s\-×\d]+/, "").slice(0, 200)}`;
    return new ToolError(`It was not done within ${Number(late[1]) / 1000} s${why}.`, {
      code: "timeout",
      hint: "Look at the page with browser_snapshot: something may cover the element, or it is not ready.",
      cause: error,
    });
  }
  const plain = firstLine(message.replace(/^[\w.]+: (?=\w)/, "").replace(/\u001b\[\d+m/g, ""));
  return new ToolError(`The browser refused: ${plain}.`, {
    hint: "Look at the page with browser_snapshot.",
    cause: error,
  });
}

export function firstLine(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line.slice(0, 300).replace(/[.:\s]+$/, "");
}
