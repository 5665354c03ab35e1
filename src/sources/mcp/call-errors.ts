import { ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import { codeOf, isRefusal, statusOf } from "./connect-errors.js";

const INVALID_PARAMS = -32_602;

/** What a failed request says about the connection it was made on. */
export interface CallFailure {
  readonly error: ToolError;
  /** `lost`: connect anew. `unsure`: look whether the server still answers. */
  readonly connection: "fine" | "unsure" | "lost";
}

export function readCallError(
  thrown: unknown,
  where: { readonly server: string; readonly what: string },
): CallFailure {
  const { server, what } = where;
  const { message } = describeThrown(thrown);
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED" || message === "Not connected") {
    return {
      connection: "lost",
      error: new ToolError(`MCP server ${server} stopped while ${what} was running`, {
        hint: "It is being started again. Whether the call has done its work is not known: look before you repeat it.",
        cause: thrown,
      }),
    };
  }
  if (isRefusal(thrown)) {
    return {
      connection: "fine",
      error: new ToolError(`MCP server ${server} refused ${what}: ${message}`, {
        code: code === INVALID_PARAMS ? "invalid_arguments" : "failed",
        cause: thrown,
      }),
    };
  }
  if (thrown instanceof Error && thrown.name === "UnauthorizedError") {
    return {
      connection: "lost",
      error: new ToolError(`MCP server ${server} needs a login`, {
        code: "unavailable",
        hint: `Run "hermes mcp login ${server}".`,
        cause: thrown,
      }),
    };
  }
  const isGone = statusOf(thrown) === 404 || codeOf(thrown) !== undefined;
  return {
    connection: isGone ? "lost" : "unsure",
    error: new ToolError(`${what} on MCP server ${server} failed: ${message}`, { cause: thrown }),
  };
}
