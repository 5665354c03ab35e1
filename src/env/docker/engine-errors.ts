import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import { EngineError } from "./engine-api.js";

/** What an engine refused or could not do, in words for whoever asked for a command. */
export function engineFailure(what: string, error: unknown, hint?: string): ToolError {
  if (ToolError.isInstance(error)) return error;
  const why = messageOf(error);
  if (error instanceof EngineError && error.status === undefined) {
    return new ToolError(`The container engine does not answer: ${why}.`, {
      code: "unavailable",
      hint: "Start it again (for instance `systemctl start docker`), then call again.",
      cause: error,
    });
  }
  return new ToolError(`${what}: ${why.replace(/\.?\s*$/, ".")}`, {
    code: "unavailable",
    hint: hint ?? "See what the engine's own log says about it.",
    cause: error,
  });
}

export function isGone(error: unknown): boolean {
  return error instanceof EngineError && (error.status === 404 || /no such container/i.test(error.message));
}

/** Docker says 409 when a container is not running; Podman a 500 about its state. */
export function isNotRunning(error: unknown): boolean {
  if (!(error instanceof EngineError)) return false;
  return error.status === 409 || /state improper|is not running/i.test(error.message);
}
