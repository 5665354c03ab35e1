import { isRecord } from "../base/record.js";
import { followRefs, type SchemaObject, subschemas } from "./schema-walk.js";

interface Fill {
  readonly key: string;
  readonly value: unknown;
  readonly isContainer: boolean;
  /** Every object seems to have this key, so only an own-property test tells. */
  readonly isInherited: boolean;
}

interface Level {
  readonly fills: Fill[];
  readonly properties: { readonly key: string; readonly level: Level }[];
  items: Level | undefined;
}

export interface DefaultsPlan {
  /** Fills in place: the arguments are the decoder's own copy. */
  fill(args: Record<string, unknown>): void;
  /** True when filling in one property can make the whole invalid (`maxProperties`, `not`, …). */
  readonly mayInvalidate: boolean;
}

/** Keywords that look at several properties at once. */
const CROSS_PROPERTY_KEYWORDS = [
  ..."allOf anyOf oneOf not if dependencies dependentRequired dependentSchemas".split(" "),
  ..."maxProperties propertyNames unevaluatedProperties additionalProperties $ref const enum contains".split(
    " ",
  ),
  "uniqueItems",
];

/**
 * What to fill in, worked out once. A default that its own schema refuses is left out: authors write
 * `"default": null` next to `"type": "string"`, and passing that on would break a valid call.
 */
export function planDefaults(
  root: unknown,
  fits: (schema: SchemaObject, value: unknown) => boolean,
): DefaultsPlan | undefined {
  if (!isRecord(root) || !mentionsDefault(root)) return undefined;
  const levels = new Map<unknown, Level>();

  function levelOf(schema: unknown): Level {
    const target = followRefs(root, schema);
    const known = levels.get(target);
    if (known !== undefined) return known;
    const level: Level = { fills: [], properties: [], items: undefined };
    levels.set(target, level);
    if (isRecord(target)) collect(target, level);
    return level;
  }

  function collect(schema: SchemaObject, level: Level): void {
    if (isRecord(schema.properties)) {
      for (const [key, property] of Object.entries(schema.properties)) {
        if (!isRecord(property) || key === "__proto__") continue;
        const fallback = defaultOf(property);
        if (fallback !== undefined && fits(property, fallback)) {
          const isContainer = typeof fallback === "object" && fallback !== null;
          level.fills.push({ key, value: fallback, isContainer, isInherited: key in Object.prototype });
        }
        if (mayHoldMore(property)) level.properties.push({ key, level: levelOf(property) });
      }
    }
    if (isRecord(schema.items)) level.items = levelOf(schema.items);
    if (!Array.isArray(schema.allOf)) return;
    for (const part of schema.allOf) {
      const target = followRefs(root, part);
      if (isRecord(target) && target !== schema) collect(target, level);
    }
  }

  /** The default beside a `$ref` is the nearer one, and what generators of schemas mean. */
  function defaultOf(property: SchemaObject): unknown {
    if (property.default !== undefined) return property.default;
    const target = followRefs(root, property);
    return isRecord(target) ? target.default : undefined;
  }

  const top = levelOf(root);
  return { fill: (args) => fillLevel(top, args), mayInvalidate: mentionsCrossProperty(root) };
}

function fillLevel(level: Level, value: unknown): void {
  if (Array.isArray(value)) {
    if (level.items !== undefined) for (const item of value) fillLevel(level.items, item);
    return;
  }
  if (!isRecord(value)) return;
  for (const { key, value: fallback, isContainer, isInherited } of level.fills) {
    // JSON has no undefined, so for ordinary names reading is as good as asking, and faster.
    const isPresent = isInherited ? Object.hasOwn(value, key) : value[key] !== undefined;
    if (!isPresent) value[key] = isContainer ? structuredClone(fallback) : fallback;
  }
  for (const { key, level: below } of level.properties) {
    const child = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof child === "object" && child !== null) fillLevel(below, child);
  }
}

function mayHoldMore(schema: SchemaObject): boolean {
  return "properties" in schema || "items" in schema || "allOf" in schema || "$ref" in schema;
}

function mentionsDefault(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (Object.hasOwn(schema, "default")) return true;
  for (const [, inner] of subschemas(schema)) if (mentionsDefault(inner)) return true;
  return false;
}

function mentionsCrossProperty(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const isStrictOnly = schema.additionalProperties === false;
  for (const keyword of CROSS_PROPERTY_KEYWORDS) {
    if (!Object.hasOwn(schema, keyword)) continue;
    // Defaults are declared properties, which `additionalProperties: false` always lets through.
    if (keyword === "additionalProperties" && isStrictOnly) continue;
    if ((keyword === "const" || keyword === "enum") && !isRecord(schema.properties)) continue;
    return true;
  }
  for (const [, inner] of subschemas(schema)) if (mentionsCrossProperty(inner)) return true;
  return false;
}
