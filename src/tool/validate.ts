import { Check, Compile, Meta } from "typebox/schema";
import { isRecord } from "../base/record.js";
import { prepareSchema } from "./prepare-schema.js";

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
