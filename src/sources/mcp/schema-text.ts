import { isRecord } from "../../base/record.js";
import {
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
  type SchemaObject,
} from "../../tool/schema-walk.js";
import { cleanText, isClean, LONGEST_PARAMETER_TEXT } from "./clean-text.js";

/** Text for readers: cleaned and shortened. */
const PROSE: ReadonlySet<string> = new Set(["description", "title"]);
/** Values that only advise: left out when they hide something. */
const ADVICE: ReadonlySet<string> = new Set(["default", "examples", "pattern", "format"]);
/** What decides which values are right, or where a part is found. Changing it would change the meaning. */
const MEANING: ReadonlySet<string> = new Set(
  (
    "type enum const required $ref $id $schema $anchor $dynamicRef $dynamicAnchor id multipleOf maximum minimum " +
    "exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems maxProperties minProperties " +
    "minContains maxContains dependentRequired nullable"
  ).split(" "),
);
const MAX_DEPTH = 100;

/** A schema that cannot be shown to a model, and why. */
export class HiddenText extends Error {}

/**
 * The same schema in which every text is fit for a model. Keywords that mean nothing to a validator are left out: a
 * server could write anything there. Throws `HiddenText` where text that must stay as it is hides something.
 */
export function withCleanText(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema)) return schema;
  if (depth > MAX_DEPTH) throw new HiddenText(`its parameters are nested deeper than ${MAX_DEPTH} levels`);
  const clean: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const inner = cleanKeyword({ keyword, value, depth });
    if (inner !== undefined) clean[keyword] = inner;
  }
  return clean;
}

interface Part {
  readonly keyword: string;
  readonly value: unknown;
  readonly depth: number;
}

function cleanKeyword({ keyword, value, depth }: Part): unknown {
  if (PROSE.has(keyword)) return cleanText(value, LONGEST_PARAMETER_TEXT) || undefined;
  if (ADVICE.has(keyword)) return hidesNothing(value) ? value : undefined;
  if (MEANING.has(keyword)) {
    if (!hidesNothing(value))
      throw new HiddenText(`"${keyword}" in its parameters holds hidden or misleading text`);
    return value;
  }
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value)) return cleanMap(value, depth);
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
    return value.map((item) => withCleanText(item, depth + 1));
  return SCHEMA_KEYWORDS.has(keyword) ? withCleanText(value, depth + 1) : undefined;
}

function cleanMap(map: SchemaObject, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(map)) {
    if (!isClean(name)) throw new HiddenText("a parameter has a name with hidden or misleading text");
    // `dependencies` may hold lists of names; they are only names again.
    const inner = Array.isArray(value) ? value : withCleanText(value, depth + 1);
    if (!hidesNothing(Array.isArray(value) ? value : undefined))
      throw new HiddenText("a parameter has a name with hidden or misleading text");
    Object.defineProperty(clean, name, {
      value: inner,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return clean;
}

/** Looks at every text inside a value. */
function hidesNothing(value: unknown): boolean {
  const pending = [value];
  for (let steps = 0; pending.length > 0; steps++) {
    const next = pending.pop();
    if (steps > 20_000) return false;
    if (typeof next === "string") {
      if (!isClean(next)) return false;
    } else if (Array.isArray(next)) pending.push(...next.slice(0, 20_001));
    else if (isRecord(next)) pending.push(...Object.keys(next), ...Object.values(next));
  }
  return true;
}
