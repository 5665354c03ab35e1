import {
  isRecord,
  resolveLocalRef,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from "../../tool/schema-walk.js";
import type { Fields } from "./references.js";

/** Shared schemas of version 3 and version 2 documents. */
const SHARED = /^#\/(?:components\/schemas|definitions)\//;
const DEEPEST = 40;
const LONGEST_DESCRIPTION = 400;

/** Keywords that mean the same in JSON Schema. Everything else (xml, examples, x-…) says nothing to a model. */
const KEPT: ReadonlySet<string> = new Set(
  (
    "type default enum const format pattern minLength maxLength minimum maximum multipleOf minItems " +
    "maxItems uniqueItems minProperties maxProperties required"
  ).split(" "),
);

/**
 * The JSON Schema of a schema object. References to shared schemas stay references (`#/$defs/Name`), so circular
 * ones are no trouble and nothing is written twice.
 */
export function jsonSchemaOf(schema: unknown, document: Fields, depth = 0): Fields {
  if (!isRecord(schema) || depth > DEEPEST) return {};
  if (typeof schema.$ref === "string") return reference(schema, document, depth);
  const converted: Record<string, unknown> = {};
  const inner = (value: unknown) =>
    typeof value === "boolean" ? value : jsonSchemaOf(value, document, depth + 1);
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue;
    if (keyword === "description" && typeof value === "string") converted.description = shortened(value);
    else if (KEPT.has(keyword)) converted[keyword] = value;
    else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value))
      converted[keyword] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]));
    else if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value)) converted[keyword] = value.map(inner);
    else if (SCHEMA_KEYWORDS.has(keyword)) converted[keyword] = inner(value);
  }
  if (schema.default === null) converted.default = null;
  if (!Array.isArray(converted.required)) delete converted.required;
  return nullable(schema, exclusive(schema, converted));
}

function reference(schema: Fields, document: Fields, depth: number): Fields {
  const ref = String(schema.$ref);
  if (SHARED.test(ref)) {
    const described =
      typeof schema.description === "string" ? { description: shortened(schema.description) } : {};
    return nullable(schema, { ...described, $ref: ref.replace(SHARED, "#/$defs/") });
  }
  const target = resolveLocalRef(document, ref);
  return target === undefined ? {} : jsonSchemaOf(target, document, depth + 1);
}

/** 3.0 and 2.0 write a flag beside the limit, 3.1 the limit itself. */
function exclusive(schema: Fields, converted: Record<string, unknown>): Record<string, unknown> {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const value = schema[flag];
    if (typeof value === "number") converted[flag] = value;
    else if (value === true && typeof schema[limit] === "number") {
      converted[flag] = schema[limit];
      delete converted[limit];
    }
  }
  return converted;
}

function nullable(schema: Fields, converted: Fields): Fields {
  if (schema.nullable !== true && schema["x-nullable"] !== true) return converted;
  if (typeof converted.type === "string") {
    const values = Array.isArray(converted.enum) ? { enum: [...new Set([...converted.enum, null])] } : {};
    return { ...converted, type: [converted.type, "null"], ...values };
  }
  if (converted.type !== undefined) return converted;
  const { description, ...rest } = converted;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
}

function shortened(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > LONGEST_DESCRIPTION ? `${plain.slice(0, LONGEST_DESCRIPTION - 1)}…` : plain;
}

/** All shared schemas of a document, by name. */
export function sharedSchemas(document: Fields): Fields {
  const components = document.components;
  const shared = isRecord(components) ? components.schemas : document.definitions;
  return Object.fromEntries(
    Object.entries(isRecord(shared) ? shared : {}).map(([name, schema]) => [
      name,
      jsonSchemaOf(schema, document),
    ]),
  );
}
