import { isRecord } from "../base/record.js";
/** Where JSON Schema keeps schemas inside schemas. Everything that walks one shares these tables. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "items",
  "oneOf",
  "prefixItems",
]);

export const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

export type SchemaObject = Readonly<Record<string, unknown>>;

export function usesDraft2020(schema: unknown): boolean {
  return isRecord(schema) && typeof schema.$schema === "string" && schema.$schema.includes("2020-12");
}

/** The schemas directly inside this one, each with its keyword. */
export function subschemas(schema: SchemaObject): readonly (readonly [keyword: string, schema: unknown])[] {
  const found: [string, unknown][] = [];
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value)) {
      for (const item of value) found.push([keyword, item]);
    } else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value)) {
      for (const name of Object.keys(value)) found.push([keyword, value[name]]);
    } else if (SCHEMA_KEYWORDS.has(keyword)) {
      found.push([keyword, value]);
    }
  }
  return found;
}

/** Follows `#` and `#/…`; other references stay unresolved, nothing is ever fetched. */
export function resolveLocalRef(root: unknown, ref: unknown): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#")) return undefined;
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let current = root;
  for (const part of ref.slice(2).split("/")) {
    if (typeof current !== "object" || current === null) return undefined;
    const key = unescapePointer(decodeFragment(part));
    if (!Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

export function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodeFragment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The schema behind a chain of local references, with a bound against references that go in circles. */
export function followRefs(root: unknown, schema: unknown): unknown {
  let current = schema;
  for (let hops = 0; hops < 20 && isRecord(current) && typeof current.$ref === "string"; hops += 1) {
    current = resolveLocalRef(root, current.$ref);
  }
  return current;
}
