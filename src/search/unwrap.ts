import type { IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { parseArguments } from "../tool/parse-arguments.js";
import { clip } from "../tool/preview.js";
import { describeThrown } from "../tool/thrown.js";
import type { BridgeNames } from "./settings.js";

/** Where models put the arguments of the inner call when they forget what the field is called. */
const ARGUMENT_FIELDS = ["arguments", "args", "input", "parameters"];

interface UnwrapOptions {
  readonly names: BridgeNames;
  /** Why a name cannot be called this way: the session has no such tool, or shows it anyway. */
  refuse(name: string): Failure | undefined;
}

/** The call inside a call of the calling stand-in, or why there is none. Never throws: it runs before the path. */
export function unwrapCall(request: IncomingCall, options: UnwrapOptions): IncomingCall | Failure {
  const { call, search } = options.names;
  const usage = `Usage: ${call}({"name": "…", "arguments": {…}}); ${search} finds names.`;
  const outer = read(request.arguments);
  if (outer.kind !== "object") {
    const why = outer.kind === "refused" ? outer.reason : "no arguments were given";
    return failure("invalid_arguments", `Invalid arguments for ${call}: ${why}`, usage);
  }
  const { name, ...rest } = outer.value;
  if (typeof name !== "string" || name.trim() === "")
    return failure("invalid_arguments", `${call} needs the name of a tool`, usage);
  const refused = options.refuse(name);
  if (refused !== undefined) return refused;
  const inner = innerArguments(rest);
  if ("problem" in inner)
    return failure(
      "invalid_arguments",
      `The arguments for ${name} are not usable: ${inner.problem}; nothing was run`,
      usage,
    );
  return { id: request.id, name, arguments: inner.value };
}

/** Objects of a program may throw when they are read. */
function read(given: unknown): ReturnType<typeof parseArguments> {
  try {
    return parseArguments(given);
  } catch (thrown) {
    return { kind: "refused", reason: `they cannot be read: ${describeThrown(thrown).message}` };
  }
}

/**
 * An object, JSON text, or nothing at all; text may still be repaired by decode. Arguments that stand beside the name
 * are taken as they are meant: a tool must never run without what it was given.
 */
function innerArguments(
  rest: Readonly<Record<string, unknown>>,
): { readonly value: unknown } | { readonly problem: string } {
  const field = ARGUMENT_FIELDS.find((candidate) => rest[candidate] !== undefined);
  if (field === undefined) return { value: rest };
  const { [field]: given, ...beside } = rest;
  const isBlank = given === null || (typeof given === "string" && given.trim() === "");
  const strays = Object.keys(beside).filter((key) => beside[key] !== undefined && beside[key] !== null);
  if (strays.length > 0) {
    if (isBlank) return { value: beside };
    const shown = strays.slice(0, 3).map((key) => clip(key, 40));
    return { problem: `${shown.join(", ")} must stand inside ${field}, not beside it` };
  }
  if (isBlank) return { value: {} };
  if (typeof given === "string") {
    const parsed = parseArguments(given);
    return parsed.kind === "refused" ? { problem: parsed.reason } : { value: given };
  }
  return typeof given === "object" && !Array.isArray(given)
    ? { value: given }
    : { problem: `an object or JSON text is needed, not ${Array.isArray(given) ? "a list" : typeof given}` };
}
