import { isRecord } from "../base/record.js";
import type { RawEntry } from "./adapter.js";
import { kindOf, own, ownFirst } from "./wire-values.js";

const ID_KEYS = ["id", "tool_call_id", "call_id"];
const ARGUMENT_KEYS = ["arguments", "input", "args", "parameters"];

/** An entry of `tool_calls`: `{id, function: {name, arguments}}`, or the same without the inner object. */
export function callEntry(source: unknown): RawEntry {
  if (!isRecord(source)) {
    return unreadable(source, `is ${kindOf(source)}; it must be an object with a function to call`);
  }
  const id = ownFirst(source, ID_KEYS);
  const inner = own(source, "function");
  if (inner === undefined) {
    return { id, name: own(source, "name"), arguments: ownFirst(source, ARGUMENT_KEYS), source };
  }
  if (!isRecord(inner)) {
    return {
      ...unreadable(source, `has ${kindOf(inner)} as function; it must be an object with name and arguments`),
      id,
    };
  }
  const args = ownFirst(inner, ARGUMENT_KEYS) ?? ownFirst(source, ARGUMENT_KEYS);
  return { id, name: own(inner, "name"), arguments: args, source };
}

export function unreadable(source: unknown, problem: string): RawEntry {
  return { id: undefined, name: undefined, arguments: undefined, source, problem };
}
