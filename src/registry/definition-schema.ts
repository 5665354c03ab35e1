import { isRecord } from "../base/record.js";
import { type JsonSchema, UNTOLD } from "../tool/json-schema.js";

/** Keywords that hold one schema, a list of them, or a map of them. */
const ONE: ReadonlySet<string> = new Set(["items", "additionalProperties", "not", "contains"]);
const LIST: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const MAP: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** Bounds that a model keeps without being told, and that every call is checked for anyway. */
const CHECKS: ReadonlySet<string> = new Set([
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "exclusiveMinimum",
]);

/** Seconds of a day: greater bounds are there to stop accidents. */
const BEYOND_USE = 86_400;

/**
 * A schema as a model is told it. Definitions are sent with every turn, so what only the check of the arguments needs
 * stays out: nobody sends an empty path or line 0. What bounds a choice stays in; a pattern that is not obvious is
 * said in the description.
 */
export function definitionSchema(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !isUntold({ keyword, value, schema }))
      .map(([keyword, value]) => [keyword, told(keyword, value)]),
  );
}

function isUntold(at: { keyword: string; value: unknown; schema: JsonSchema }): boolean {
  const { keyword, value, schema } = at;
  switch (keyword) {
    case "additionalProperties":
      return value === false;
    case "minimum":
      // A range is told whole.
      return (value === 0 || value === 1) && isUntold({ ...at, keyword: "maximum", value: schema.maximum });
    case "maximum":
      return typeof value !== "number" || value >= BEYOND_USE;
    case "default":
      return value === false || value === 0 || (Array.isArray(value) && value.length === 0);
    default:
      return CHECKS.has(keyword);
  }
}

function told(keyword: string, value: unknown): unknown {
  if (LIST.has(keyword) && Array.isArray(value)) return value.map(toldIfSchema);
  if (ONE.has(keyword)) return toldIfSchema(value);
  if (MAP.has(keyword) && isRecord(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => !(isRecord(inner) && inner[UNTOLD] === true))
        .map(([name, inner]) => [name, toldIfSchema(inner)]),
    );
  return value;
}

function toldIfSchema(value: unknown): unknown {
  return isRecord(value) ? definitionSchema(value) : value;
}
