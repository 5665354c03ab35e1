import { isRecord } from "../../base/record.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import {
  resolveLocalRef,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
  type SchemaObject,
} from "../../tool/schema-walk.js";

const MAX_DEPTH = 100;

/**
 * The parameters of a foreign tool in the form that model formats take. It never refuses what was right before; a
 * part that cannot be rewritten that way stays as it is.
 */
export function normalizeParameters(given: unknown): JsonSchema {
  if (given === undefined || given === null) return { type: "object", properties: {} };
  if (!isRecord(given))
    throw new TypeError(`its parameters are ${Array.isArray(given) ? "a list" : typeof given}`);
  const flat = flattenRoot(withDefs(given));
  const type = Array.isArray(flat.type) && flat.type.includes("object") ? "object" : (flat.type ?? "object");
  const { properties = {}, ...rest } = collapse(flat, 0) as SchemaObject;
  return { ...rest, type, properties };
}

/** Renames the keyword `definitions` to `$defs`, and the references with it. Properties of that name stay. */
function withDefs(root: SchemaObject): SchemaObject {
  // Inside a document with an address of its own, "#/…" may mean that document.
  if ("$id" in root || "id" in root) return root;
  return rename(root, root, 0) as SchemaObject;
}

function rename(schema: unknown, root: SchemaObject, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return schema;
  return mapSubschemas(
    schema,
    (inner) => rename(inner, root, depth + 1),
    (keyword, value) => {
      if (keyword === "definitions" && isRenamed(schema)) return ["$defs", value];
      if (keyword === "$ref" && typeof value === "string") return [keyword, renamedRef(value, root)];
      return [keyword, value];
    },
  );
}

function isRenamed(schema: SchemaObject): boolean {
  return isRecord(schema.definitions) && schema.$defs === undefined;
}

function renamedRef(ref: string, root: SchemaObject): string {
  if (!ref.startsWith("#/") || !ref.includes("definitions")) return ref;
  let at: unknown = root;
  let isSchema = true;
  const parts = ref
    .slice(2)
    .split("/")
    .map((part) => {
      const holder = isRecord(at) || Array.isArray(at) ? (at as Record<string, unknown>) : {};
      const renamed = isSchema && part === "definitions" && isRecord(at) && isRenamed(at) ? "$defs" : part;
      // A name inside `properties` or the like is no keyword; what it names is a schema again.
      isSchema = isSchema ? !SCHEMA_MAP_KEYWORDS.has(part) && !SCHEMA_LIST_KEYWORDS.has(part) : true;
      at = holder[part.replaceAll("~1", "/").replaceAll("~0", "~")];
      if (isRecord(at) && part === "items") isSchema = true;
      return renamed;
    });
  return `#/${parts.join("/")}`;
}

/** `anyOf: [X, null]` becomes X that may be null, wherever that says the same. */
function collapse(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return schema;
  const walked = mapSubschemas(
    schema,
    (inner) => collapse(inner, depth + 1),
    (keyword, value) => [keyword, value],
  );
  return collapseNullable(walked, "anyOf") ?? collapseNullable(walked, "oneOf") ?? walked;
}

const READERS_TEXT: ReadonlySet<string> = new Set(["description", "title", "default", "examples"]);
/** With these the rest of X would judge null too, or lie elsewhere. */
const NOT_COLLAPSED: ReadonlySet<string> = new Set(
  "$ref $id $anchor const not if then else allOf anyOf oneOf $defs definitions $dynamicRef".split(" "),
);

function collapseNullable(schema: SchemaObject, keyword: "anyOf" | "oneOf"): SchemaObject | undefined {
  const branches = schema[keyword];
  if (!Array.isArray(branches) || branches.length !== 2) return undefined;
  const other = branches.filter((branch) => !isOnlyNull(branch));
  const [value] = other;
  if (other.length !== 1 || !isRecord(value) || typeof value.type !== "string" || value.type === "null")
    return undefined;
  if (Object.keys(value).some((key) => NOT_COLLAPSED.has(key))) return undefined;
  const { [keyword]: _branches, ...around } = schema;
  // What stands beside the choice judges every value; it can join X only if X says nothing about the same.
  if (Object.keys(around).some((key) => !READERS_TEXT.has(key))) return undefined;
  return {
    ...value,
    type: [value.type, "null"],
    ...(Array.isArray(value.enum) && { enum: [...value.enum, null] }),
    ...around,
  };
}

function isOnlyNull(branch: unknown): boolean {
  return (
    isRecord(branch) &&
    branch.type === "null" &&
    Object.keys(branch).every((key) => key === "type" || READERS_TEXT.has(key))
  );
}

/** A copy in which the schemas directly inside are mapped, then every keyword. */
function mapSubschemas(
  schema: SchemaObject,
  map: (inner: unknown) => unknown,
  entry: (keyword: string, value: unknown) => readonly [string, unknown],
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const [name, renamed] = entry(keyword, value);
    copy[name] = mapValue({ keyword, value: renamed, map });
  }
  return copy;
}

function mapValue(part: { keyword: string; value: unknown; map: (inner: unknown) => unknown }): unknown {
  const { keyword, value, map } = part;
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value)) return value.map(map);
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value)) return mapRecord(value, map);
  return SCHEMA_KEYWORDS.has(keyword) ? map(value) : value;
}

function mapRecord(value: SchemaObject, map: (inner: unknown) => unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  // A plain assignment to "__proto__" would change the object instead.
  for (const [name, inner] of Object.entries(value))
    Object.defineProperty(copy, name, {
      value: map(inner),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
}

const COMBINATORS = ["allOf", "anyOf", "oneOf"] as const;
const MAX_ROUNDS = 8;
/** Keywords of a branch that can be taken over or dropped without refusing what was right before. */
const SIMPLE: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "description",
  "title",
  "$schema",
]);

/**
 * Model formats want an object with properties at the top, not a choice between several. The choice is widened to
 * one object: arguments that fit a branch and use the names of that branch fit afterwards. The server still checks
 * them itself.
 */
function flattenRoot(schema: SchemaObject): SchemaObject {
  let current = schema;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = flattenOnce(current);
    if (next === current) return current;
    current = next;
  }
  return current;
}

function flattenOnce(schema: SchemaObject): SchemaObject {
  if (typeof schema.$ref === "string") {
    const { $ref, ...around } = schema;
    const target = branchOf(resolveLocalRef(schema, $ref), schema);
    if (target === undefined || target === schema || "$id" in schema) return schema;
    return merged(around, [target], "all");
  }
  for (const keyword of COMBINATORS) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const read = branches.map((branch) => branchOf(branch, schema));
    if (!read.every((branch) => branch !== undefined)) continue;
    const { [keyword]: _branches, ...around } = schema;
    return merged(around, read, keyword === "allOf" ? "all" : "any");
  }
  return schema;
}

/** A branch that is a plain object schema, or leads to one. */
function branchOf(branch: unknown, root: SchemaObject, hops = 0): SchemaObject | undefined {
  if (!isRecord(branch)) return undefined;
  if (typeof branch.$ref === "string")
    return hops < 5 && Object.keys(branch).every((key) => key === "$ref" || SIMPLE.has(key))
      ? branchOf(resolveLocalRef(root, branch.$ref), root, hops + 1)
      : undefined;
  if (branch.type !== undefined && branch.type !== "object") return undefined;
  if (branch.properties !== undefined && !isRecord(branch.properties)) return undefined;
  if (branch.required !== undefined && !isListOfNames(branch.required)) return undefined;
  // A choice inside the choice would be lost; then the whole stays as it is.
  return COMBINATORS.some((keyword) => branch[keyword] !== undefined) ? undefined : branch;
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function merged(around: SchemaObject, branches: readonly SchemaObject[], mode: "all" | "any"): SchemaObject {
  const sources = [around, ...branches];
  const meanings = new Map<string, unknown[]>();
  for (const { properties } of sources) {
    for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
      const known = meanings.get(name) ?? [];
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(property))) known.push(property);
      meanings.set(name, known);
    }
  }
  const properties = Object.fromEntries([...meanings].map(([name, given]) => [name, oneOfThem(given)]));
  const own = namesIn(around.required);
  const theirs = branches.map((branch) => namesIn(branch.required));
  const shared =
    mode === "all"
      ? theirs.flat()
      : (theirs[0] ?? []).filter((name) => theirs.every((names) => names.includes(name)));
  const required = [...new Set([...own, ...shared])];
  const description =
    around.description ?? branches.find((branch) => branch.description !== undefined)?.description;
  const closed = isClosed(around, branches);
  const { required: _required, additionalProperties: _additional, ...kept } = around;
  return {
    ...kept,
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...(closed !== undefined && { additionalProperties: closed }),
    ...(description !== undefined && { description }),
  };
}

/** Only what stands at the top closes the object; what a branch forbids, another may want. */
function isClosed(around: SchemaObject, branches: readonly SchemaObject[]): unknown {
  const { additionalProperties } = around;
  if (additionalProperties === undefined) return undefined;
  // It was said about the names at the top only; the branches' own names would have been refused all along.
  return branches.every((branch) => branch.properties === undefined) ? additionalProperties : undefined;
}

function oneOfThem(given: readonly unknown[]): unknown {
  // Each says what the value may be; several together could refuse what one of them takes.
  return given.length === 1 ? given[0] : { anyOf: given };
}

function namesIn(required: unknown): readonly string[] {
  return isListOfNames(required) ? required : [];
}
