import { isRecord } from "../../base/record.js";
import { resolveLocalRef, type SchemaObject } from "../../tool/schema-walk.js";

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
export function flattenRoot(schema: SchemaObject): SchemaObject {
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
