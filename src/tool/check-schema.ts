import { isRecord } from "../base/record.js";
import { type Failure, failure } from "./errors.js";
import { isProvablyLinear } from "./safe-pattern.js";
import { resolveLocalRef, type SchemaObject, subschemas } from "./schema-walk.js";

/** Bounds for schemas from outside; the largest in public tool servers have a few thousand parts. */
const MAX_FOREIGN_PARTS = 20_000;
const MAX_DEPTH = 100;
/** How many schemas one value may be held against: references that fan out double it at every step. */
const MAX_EXPANSION = 100_000;

/**
 * What is wrong with a parameter schema, as far as a look without compiling can tell. Cheap, since every
 * registration passes through here.
 */
export function checkSchema(
  parameters: unknown,
  options: { readonly foreign: boolean },
): Failure | undefined {
  const problem = rootProblem(parameters) ?? partsProblem(parameters as SchemaObject, options.foreign);
  if (problem === undefined) return undefined;
  return failure(
    "bad_request",
    `Unusable parameter schema: ${problem}`,
    'Give a JSON Schema of type "object", e.g. {"type":"object","properties":{"query":{"type":"string"}}}.',
  );
}

function rootProblem(schema: unknown): string | undefined {
  if (!isRecord(schema)) {
    return `it must be an object schema, got ${Array.isArray(schema) ? "an array" : String(schema)}.`;
  }
  const { type, properties, required } = schema;
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && type.includes("object"))) {
    return `its type must be "object", got ${JSON.stringify(type)}.`;
  }
  if (properties !== undefined && !isRecord(properties)) return '"properties" must be an object.';
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === "string"))
  ) {
    return '"required" must be a list of property names.';
  }
  return undefined;
}

function partsProblem(root: SchemaObject, foreign: boolean): string | undefined {
  const pending: { readonly schema: SchemaObject; readonly depth: number }[] = [{ schema: root, depth: 1 }];
  const seen = new Set<unknown>([root]);
  let hasRefs = false;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const { schema, depth } = part;
    if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels.`;
    hasRefs ||= "$ref" in schema;
    const problem = refProblem(root, schema) ?? patternProblem(schema, foreign);
    if (problem !== undefined) return problem;
    for (const [keyword, inner] of subschemas(schema)) {
      if (isRecord(inner)) {
        if (seen.has(inner)) continue;
        seen.add(inner);
        if (foreign && seen.size > MAX_FOREIGN_PARTS) return `it has more than ${MAX_FOREIGN_PARTS} parts.`;
        pending.push({ schema: inner, depth: depth + 1 });
      } else if (typeof inner !== "boolean" && !(keyword === "dependencies" && Array.isArray(inner))) {
        return `"${keyword}" holds ${JSON.stringify(inner)?.slice(0, 40)} where a schema belongs.`;
      }
    }
  }
  return hasRefs ? expansionProblem(root, seen) : undefined;
}

function refProblem(root: SchemaObject, schema: SchemaObject): string | undefined {
  const ref = schema.$ref;
  // Inside a document with an `$id` of its own, "#/…" may mean that document; the validator sorts it out.
  if (typeof ref !== "string" || !ref.startsWith("#/") || hasIds(root)) return undefined;
  const target = resolveLocalRef(root, ref);
  return target === undefined
    ? `"$ref" points to ${JSON.stringify(ref.slice(0, 80))}, which does not exist.`
    : undefined;
}

function hasIds(root: SchemaObject): boolean {
  return "$id" in root || "id" in root;
}

function patternProblem(schema: SchemaObject, foreign: boolean): string | undefined {
  if (typeof schema.pattern === "string" && !foreign && !compiles(schema.pattern)) {
    return `the pattern ${JSON.stringify(schema.pattern.slice(0, 80))} is not a regular expression (flag u).`;
  }
  if (!isRecord(schema.patternProperties)) return undefined;
  for (const pattern of Object.keys(schema.patternProperties)) {
    const shown = JSON.stringify(pattern.slice(0, 80));
    if (!compiles(pattern)) return `the patternProperties key ${shown} is not a regular expression (flag u).`;
    if (foreign && !isProvablyLinear(pattern)) {
      return `the patternProperties key ${shown} could take exponential time; only simple patterns are accepted from outside.`;
    }
  }
  return undefined;
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

/** Keywords whose schemas judge the same value again, rather than a part of it. */
const IN_PLACE_KEYWORDS: ReadonlySet<string> = new Set(
  "allOf anyOf oneOf not if then else dependencies dependentSchemas".split(" "),
);

function expansionProblem(root: SchemaObject, parts: ReadonlySet<unknown>): string | undefined {
  const costs = new Map<unknown, number>();
  const open = new Set<unknown>();
  let isCircular = false;

  function cost(schema: unknown): number {
    if (!isRecord(schema)) return 1;
    const known = costs.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema)) {
      isCircular = true;
      return 1;
    }
    open.add(schema);
    let sum = 1;
    for (const [keyword, inner] of subschemas(schema)) if (IN_PLACE_KEYWORDS.has(keyword)) sum += cost(inner);
    if ("$ref" in schema) sum += cost(resolveLocalRef(root, schema.$ref));
    open.delete(schema);
    costs.set(schema, Math.min(sum, Number.MAX_SAFE_INTEGER));
    return sum;
  }

  for (const part of parts) {
    if (cost(part) > MAX_EXPANSION)
      return "its references multiply: one value would be checked far too often.";
    if (isCircular) return "a reference leads back to itself without descending into the value.";
  }
  return undefined;
}
