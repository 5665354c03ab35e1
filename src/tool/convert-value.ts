import { isRecord } from "../base/record.js";
import { copyJson } from "./copy-json.js";
import { parseStrictly, textLimitProblem } from "./parse-arguments.js";
import type { SchemaObject } from "./schema-walk.js";

/** The JSON types a schema asks for, also when only its fixed values tell; undefined = any. */
export function typesOf(schema: SchemaObject): readonly string[] | undefined {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === "string");
  if ("const" in schema) return [typeName(schema.const)];
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map(typeName))];
  return undefined;
}

export function matchesType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "object":
      return isRecord(value);
    default:
      return typeName(value) === type;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The first of the types, in their order, that this value can become without loss; boxed, since null counts. */
export function convertTo(types: readonly string[], value: unknown): { readonly value: unknown } | undefined {
  for (const type of types) {
    const converted = convert(type, value);
    if (converted !== undefined) return { value: converted.value };
  }
  return undefined;
}

function convert(type: string, value: unknown): { readonly value: unknown } | undefined {
  switch (type) {
    case "integer":
    case "number":
      return typeof value === "string" ? toNumber(value, type) : undefined;
    case "boolean":
      return typeof value === "string" ? toBoolean(value) : undefined;
    case "null":
      return value === "null" ? { value: null } : undefined;
    case "string":
      return toText(value);
    case "array":
      return toArray(value);
    case "object":
      return typeof value === "string" ? fromJsonText(value, "object") : undefined;
    default:
      return undefined;
  }
}

const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function toNumber(text: string, type: "integer" | "number"): { readonly value: number } | undefined {
  const trimmed = text.length > 400 ? text : text.trim();
  if (trimmed.length > 400 || !NUMBER_TEXT.test(trimmed)) return undefined;
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return undefined;
  // An id of twenty digits would silently become another id.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(trimmed)) return undefined;
  return type === "integer" && !Number.isInteger(value) ? undefined : { value };
}

function toBoolean(text: string): { readonly value: boolean } | undefined {
  if (text.length > 20) return undefined;
  const word = text.trim().toLowerCase();
  return word === "true" || word === "false" ? { value: word === "true" } : undefined;
}

function toText(value: unknown): { readonly value: string } | undefined {
  if (typeof value === "boolean") return { value: String(value) };
  // Beyond this the digits are no longer those that were sent.
  const isExact = typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isExact ? { value: String(value) } : undefined;
}

function toArray(value: unknown): { readonly value: unknown } | undefined {
  if (typeof value === "string") {
    const trimmed = value.trim();
    if (trimmed.startsWith("[")) return fromJsonText(trimmed, "array");
    return { value: [value] };
  }
  return typeof value === "number" || typeof value === "boolean" ? { value: [value] } : undefined;
}

function fromJsonText(text: string, type: "array" | "object"): { readonly value: unknown } | undefined {
  if (textLimitProblem(text) !== undefined) return undefined;
  const parsed = parseStrictly(text);
  if (parsed === undefined || !matchesType(type, parsed.value)) return undefined;
  return copyJson(parsed.value as object, true).ok ? parsed : undefined;
}
