import type { IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { parseArguments } from "../tool/parse-arguments.js";
import type { BridgeNames } from "./settings.js";

/** Where models put the arguments of the inner call when they forget what the field is called. */
const ARGUMENT_FIELDS = ["arguments", "args", "input", "parameters"];

/** The call inside a call of the calling stand-in, or why there is none. Never throws: it runs before the path. */
export function unwrapCall(
  request: IncomingCall,
  options: {
    readonly names: BridgeNames;
    /** Any spelling of a stand-in's name. */
    isBridge(name: string): boolean;
    /** True for a tool the session has and shows anyway. */
    isDirect(name: string): boolean;
  },
): IncomingCall | Failure {
  const { names } = options;
  const outer = parseArguments(request.arguments);
  const usage = `Usage: ${names.call}({"name": "…", "arguments": {…}}); ${names.search} finds names.`;
  if (outer.kind !== "object") {
    const why = outer.kind === "refused" ? outer.reason : "no arguments were given";
    return failure("invalid_arguments", `Invalid arguments for ${names.call}: ${why}`, usage);
  }
  const { name } = outer.value;
  if (typeof name !== "string" || name.trim() === "")
    return failure("invalid_arguments", `${names.call} needs the name of a tool`, usage);
  if (options.isBridge(name))
    return failure("bad_request", `${name} cannot be called through ${names.call}`, `Call ${name} directly.`);
  if (options.isDirect(name)) {
    return failure(
      "bad_request",
      `${name} is not behind the tool search`,
      `Call ${name} directly, by its own name.`,
    );
  }
  const inner = innerArguments(outer.value);
  if ("problem" in inner) {
    return failure("invalid_arguments", `The arguments for ${name} are not usable: ${inner.problem}`, usage);
  }
  return { id: request.id, name, arguments: inner.value };
}

/** An object, JSON text, or nothing at all. Text that is no JSON is left to decode, which may repair it. */
function innerArguments(outer: Readonly<Record<string, unknown>>):
  | { readonly value: unknown }
  | {
      readonly problem: string;
    } {
  const field = ARGUMENT_FIELDS.find((candidate) => outer[candidate] !== undefined);
  const given = field === undefined ? undefined : outer[field];
  if (given === undefined || given === null || (typeof given === "string" && given.trim() === ""))
    return { value: {} };
  if (typeof given === "string") {
    const parsed = parseArguments(given);
    return parsed.kind === "refused" ? { problem: parsed.reason } : { value: given };
  }
  return typeof given === "object" && !Array.isArray(given)
    ? { value: given }
    : { problem: `an object or JSON text is needed, not ${Array.isArray(given) ? "a list" : typeof given}` };
}
