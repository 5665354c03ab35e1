import {
  copyJson,
  MAX_ARGUMENT_CHARS,
  MAX_ARGUMENT_DEPTH,
  MAX_ARGUMENT_VALUES,
  tooDeep,
  tooLarge,
  tooMany,
} from "./copy-json.js";
import { endOfString } from "./json-string.js";
import { repairJsonText } from "./repair-text.js";

export type ParsedArguments =
  | { readonly kind: "object"; readonly value: Record<string, unknown>; readonly repairs: readonly string[] }
  /** Nothing was sent at all: no text, null or undefined. What that means depends on the schema. */
  | { readonly kind: "nothing"; readonly got: string }
  | { readonly kind: "refused"; readonly reason: string };

const NO_REPAIRS: readonly string[] = [];

/** Text this short cannot hold a number too big for a double, nor nesting past the limit. */
const SHORT_TEXT = MAX_ARGUMENT_DEPTH;

export function parseArguments(raw: unknown): ParsedArguments {
  if (typeof raw === "string") return fromText(raw);
  if (raw === null || raw === undefined) return { kind: "nothing", got: String(raw) };
  if (typeof raw !== "object" || Array.isArray(raw)) return notAnObject(raw);
  const copied = copyJson(raw);
  return copied.ok
    ? { kind: "object", value: copied.value as Record<string, unknown>, repairs: NO_REPAIRS }
    : { kind: "refused", reason: copied.reason };
}

function fromText(text: string): ParsedArguments {
  const limit = textLimitProblem(text);
  if (limit !== undefined) return { kind: "refused", reason: limit };
  const parsed = parseStrictly(text);
  if (parsed === undefined) {
    if (text.trim() === "") return { kind: "nothing", got: "empty text" };
    const repaired = repairJsonText(text);
    if (!repaired.ok) return { kind: "refused", reason: repaired.reason };
    return accept({ value: repaired.value, text, repairs: [repaired.note] });
  }
  // Some models encode the object twice: a JSON string whose content is the JSON object.
  if (typeof parsed.value === "string" && parsed.value.trimStart().startsWith("{")) {
    const inner = parseStrictly(parsed.value);
    if (inner !== undefined && textLimitProblem(parsed.value) === undefined) {
      return accept({
        value: inner.value,
        text,
        repairs: ["arguments: JSON text inside a JSON string → object"],
      });
    }
  }
  return accept({ value: parsed.value, text, repairs: NO_REPAIRS });
}

function accept(found: { value: unknown; text: string; repairs: readonly string[] }): ParsedArguments {
  const { value, text, repairs } = found;
  if (value === null) return { kind: "nothing", got: "null" };
  if (typeof value !== "object" || Array.isArray(value)) return notAnObject(value);
  if (needsInspection(text)) {
    const inspected = copyJson(value, true);
    if (!inspected.ok) return { kind: "refused", reason: inspected.reason };
  }
  return { kind: "object", value: value as Record<string, unknown>, repairs };
}

/** JSON.parse yields own `__proto__` keys and turns 1e999 into Infinity; most short texts can hold neither. */
function needsInspection(text: string): boolean {
  return text.length > SHORT_TEXT || /__proto__|\\u|\d[eE]/.test(text);
}

function notAnObject(value: unknown): ParsedArguments {
  const got = Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { kind: "refused", reason: `the arguments must be a JSON object, got ${got}` };
}

/** A box tells `null` from "does not parse". */
export function parseStrictly(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Why this text must not even be parsed, judged without recursion. */
export function textLimitProblem(text: string): string | undefined {
  if (text.length > MAX_ARGUMENT_CHARS) return tooLarge(text.length);
  return text.length > SHORT_TEXT ? structureProblem(text) : undefined;
}

const QUOTE = 0x22;
/** A value follows a comma or an opening bracket, or both come before it; the exact count is taken later. */
const MAX_SEPARATORS = 2 * MAX_ARGUMENT_VALUES;

function structureProblem(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case 0x2c: // ,
        values += 1;
        if (values > MAX_SEPARATORS) return tooMany();
        break;
      case 0x5b: // [
      case 0x7b: // {
        values += 1;
        depth += 1;
        if (depth > MAX_ARGUMENT_DEPTH) return tooDeep();
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
    }
  }
  return undefined;
}
