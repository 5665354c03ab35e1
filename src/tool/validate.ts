import { Check, Compile, Meta } from "typebox/schema";
import { isRecord } from "../base/record.js";
import { compileLinear } from "./safe-pattern.js";
import { SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS, usesDraft2020 } from "./schema-walk.js";

/** One thing that is wrong with a value. `path` is a JSON pointer. */
export interface Issue {
  readonly path: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Validator {
  check(value: unknown): boolean;
  /** At most a handful, in schema order; empty for a valid value. */
  issues(value: unknown): readonly Issue[];
}

export interface CompileOptions {
  /** The schema comes from outside (MCP server, plugin file): its patterns run on RE2. */
  readonly foreign?: boolean;
  /** Documents that `$ref` may name, by address. Nothing is ever fetched. */
  readonly known?: Readonly<Record<string, unknown>>;
}

type TypeboxSchema = Record<string, unknown> | boolean;

const META_SCHEMAS: Readonly<Record<string, unknown>> = {
  "http://json-schema.org/draft-07/schema": Meta["http://json-schema.org/draft-07/schema#"],
  "https://json-schema.org/draft/2020-12/schema": Meta["https://json-schema.org/draft/2020-12/schema"],
};

/** Throws when the schema cannot be compiled; the decoder turns that into a failure of the call. */
export function compileValidator(schema: unknown, options: CompileOptions = {}): Validator {
  const foreign = options.foreign === true;
  const prepared = prepareSchema(schema, { foreign });
  const context: Record<string, TypeboxSchema> = {};
  let namesInheritedProperty = prepared.namesInheritedProperty;
  // Only what is named gets in: the validator reads its whole context at every compilation.
  const wanted = [...prepared.references, ...Object.keys(options.known ?? {})];
  for (const address of wanted) {
    const document = options.known?.[address] ?? META_SCHEMAS[address];
    if (document === undefined || Object.hasOwn(context, address)) continue;
    const known = prepareSchema(document, { foreign });
    context[address] = known.schema;
    namesInheritedProperty ||= known.namesInheritedProperty;
    wanted.push(...known.references);
  }
  const compiled = Compile(context, prepared.schema);
  if (!namesInheritedProperty) {
    return {
      check: (value) => compiled.Check(value),
      issues: (value) => compiled.Errors(value)[1].map(toIssue),
    };
  }
  return {
    check: (value) => compiled.Check(withoutPrototypes(value)),
    issues: (value) => compiled.Errors(withoutPrototypes(value))[1].map(toIssue),
  };
}

/** Whether a value fits one part of a schema, whose references are those of the whole. Slow; for set-up. */
export function fitsPart(input: {
  readonly root: unknown;
  readonly part: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly foreign: boolean;
}): boolean {
  const { root, part, value, foreign } = input;
  const shared = isRecord(root)
    ? { $schema: root.$schema, $defs: root.$defs, definitions: root.definitions }
    : {};
  const whole = Object.fromEntries(
    Object.entries({ ...shared, ...part }).filter(([, keyword]) => keyword !== undefined),
  );
  try {
    return Check({}, prepareSchema(whole, { foreign }).schema, value);
  } catch {
    return false;
  }
}

function toIssue(error: { keyword: string; instancePath: string; params: object }): Issue {
  return { path: error.instancePath, keyword: error.keyword, params: { ...error.params } };
}

/** A copy in which "toString" is a property only where somebody put one. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isRecord(value)) return value;
  const bare: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) bare[key] = withoutPrototypes(value[key]);
  return bare;
}

interface PreparedSchema {
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
function prepareSchema(schema: unknown, options: { readonly foreign: boolean }): PreparedSchema {
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
