import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

/** A command's fate is not known: never a result, never tried anywhere else. */
export function lostWhileRunning(name: string, why: string): ToolError {
  return new ToolError(
    `The connection to ${name} was lost while the command ran (${trimmed(why)}); whether it finished is unknown.`,
    {
      code: "unavailable",
      hint: "Look at what it may have changed before you repeat it. The next call connects again and ends what is left of it.",
      details: { lost: true },
    },
  );
}

export function lostWhileWorking(name: string, why: string): ToolError {
  return new ToolError(`The connection to ${name} was lost (${trimmed(why)}).`, {
    code: "unavailable",
    hint: "Call again: the next call connects anew.",
    details: { lost: true },
  });
}

export function closedError(name: string): ToolError {
  return new ToolError(`The environment ${name} is closed.`, {
    code: "unavailable",
    hint: "Open a new session.",
  });
}

export function noShell(name: string, said: string): ToolError {
  const words = trimmed(said);
  return new ToolError(`No shell could be started in ${name}${words === "" ? "" : `: ${words}`}.`, {
    code: "unavailable",
    hint: "It needs at least `sh` in its PATH; choose an image or a host that has one.",
  });
}

export function reasonOf(error: unknown): string {
  return messageOf(error);
}

function trimmed(text: string): string {
  return text.trim().replace(/\.$/, "").slice(0, 500);
}
