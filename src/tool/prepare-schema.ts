import { isRecord } from "../base/record.js";
import { compileLinear } from "./safe-pattern.js";
import { SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS, usesDraft2020 } from "./schema-walk.js";

export interface PreparedSchema {
  readonly schema: Record<string, unknown> | boolean;
  /** A property name that every JavaScript object inherits: the validator's `in` would find it anywhere. */
  readonly namesInheritedProperty: boolean;
  /** Absolute references without their fragment, as far as this document itself names them. */
  readonly references: ReadonlySet<string>;
}

/** In draft-07 a `$ref` makes its neighbours mute; only those that judge a value have to go. */
const JUDGING_KEYWORDS: ReadonlySet<string> = new Set([
  ..."type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum".split(" "),
  ..."maxLength minLength pattern format items additionalItems maxItems minItems uniqueItems".split(" "),
  ..."contains maxProperties minProperties required properties patternProperties".split(" "),
  ..."additionalProperties dependencies propertyNames if then else allOf anyOf oneOf not".split(" "),
]);

/** A copy of the schema that says to the validator exactly what its own dialect means. */
export function prepareSchema(schema: unknown, options: { readonly foreign: boolean }): PreparedSchema {
  const isDraft2020 = usesDraft2020(schema);
  const references = new Set<string>();
  let namesInheritedProperty = false;

  function visit(node: unknown, isRoot: boolean): Record<string, unknown> | boolean {
    if (typeof node === "boolean") return node;
    if (!isRecord(node)) return true;
    const muted = !isDraft2020 && typeof node.$ref === "string";
    const copy: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(node)) {
      if (muted && (JUDGING_KEYWORDS.has(keyword) || (keyword === "$id" && !isRoot))) continue;
      // 2020-12 makes `format` an annotation; draft-07 leaves the choice, and checking helps.
      if (keyword === "format" && isDraft2020) continue;
      define(copy, keyword, convert(keyword, value));
    }
    if (Array.isArray(node.required)) node.required.forEach(noteName);
    return copy;
  }

  function convert(keyword: string, value: unknown): unknown {
    if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
      return value.map((item) => visit(item, false));
    if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value)) {
      const copy: Record<string, unknown> = {};
      for (const [name, item] of Object.entries(value)) {
        noteName(name);
        define(copy, name, Array.isArray(item) ? item : visit(item, false));
      }
      return copy;
    }
    if (SCHEMA_KEYWORDS.has(keyword)) return visit(value, false);
    if ((keyword === "$ref" || keyword === "$id") && typeof value === "string")
      return reference(keyword, value);
    if (keyword === "pattern" && typeof value === "string" && options.foreign) return compileLinear(value);
    return value;
  }

  /** `x#` and `x` are one document; the validator would take the first for the document it stands in. */
  function reference(keyword: string, value: string): string {
    const plain = value.length > 1 && value.endsWith("#") ? value.slice(0, -1) : value;
    const document = plain.split("#")[0];
    if (keyword === "$ref" && document) references.add(document);
    return plain;
  }

  function noteName(name: unknown): void {
    if (typeof name === "string" && name in Object.prototype) namesInheritedProperty = true;
  }

  return { schema: visit(schema, true), references, namesInheritedProperty };
}

/** Plain assignment of "__proto__" would set the prototype instead of a property. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
