import { ToolError } from "../../tool/errors.js";
import type { ProgramRequest } from "../environment.js";
import { FIXED, refuseOversized } from "../local/child-env.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A shell refuses to have these set. */
const READ_ONLY = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"]);

/** What every command there begins with, on top of what the transport gives. */
export function addedForAll(
  given: Readonly<Record<string, string>>,
  passthrough: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...(given.TERM === undefined && { TERM: "dumb" }), ...FIXED, ...passthrough };
}

/** Refuses what no shell or system there could take, in words. */
export function requireUsable(request: ProgramRequest, base: Readonly<Record<string, string>>): void {
  const words = typeof request.command === "string" ? [request.command] : request.command;
  if (words.length === 0 || (typeof request.command !== "string" && words[0] === "")) {
    throw new ToolError("The command is empty: there is no program to start.", { code: "invalid_arguments" });
  }
  if (words.some((word) => word.includes("\0"))) {
    throw new ToolError("The command holds a NUL byte, which no program can receive as an argument.", {
      code: "invalid_arguments",
      hint: "Remove the NUL byte, or write the data to a file.",
    });
  }
  const env: Record<string, string> = { ...base };
  for (const [name, value] of Object.entries(request.env ?? {})) {
    if (value === undefined) delete env[name];
    else env[name] = value;
    if (NAME.test(name) && !value?.includes("\0")) continue;
    throw new ToolError(
      `Environment variable ${JSON.stringify(name)} cannot be set: ` +
        (value?.includes("\0") ? "its value holds a NUL byte" : "the name is not a valid variable name"),
      { code: "invalid_arguments", hint: "Use letters, digits and underscores, not starting with a digit." },
    );
  }
  refuseOversized(words, env);
}

/** The variables as they are to be sent: those that a shell takes. */
export function settable(
  env: Readonly<Record<string, string | undefined>>,
): readonly (readonly [name: string, value: string | undefined])[] {
  return Object.entries(env).filter(([name]) => NAME.test(name) && !READ_ONLY.has(name));
}
