import { isRecord } from "../../base/record.js";
import {
  resolveLocalRef,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from "../../tool/schema-walk.js";
import { type Fields, Unsupported } from "./references.js";

/** Shared schemas of version 3 and version 2 documents. */
const SHARED = /^#\/(?:components\/schemas|definitions)\//;
const DEEPEST = 40;
/** References to other places than the shared schemas are opened, and circles among them would have no end. */
const MOST_OPENED = 1_000;
const LONGEST_DESCRIPTION = 400;
const LONGEST_DEFAULT = 60;

/** Keywords that mean the same in JSON Schema. Everything else (xml, examples, x-…) says nothing to a model. */
const KEPT: ReadonlySet<string> = new Set(
  (
    "type enum const format pattern minLength maxLength minimum maximum multipleOf minItems " +
    "maxItems uniqueItems minProperties maxProperties required"
  ).split(" "),
);

/**
 * The JSON Schema of a schema object, as far as it is about requests. References to shared schemas stay references
 * (`#/$defs/Name`), so circular ones are no trouble and nothing is written twice. Throws `Unsupported`.
 */
export function jsonSchemaOf(schema: unknown, document: Fields): Fields {
  return new Conversion(document).schema(schema, 0);
}

class Conversion {
  readonly #document: Fields;
  readonly #open = new Set<string>();
  #opened = 0;

  constructor(document: Fields) {
    this.#document = document;
  }

  schema(schema: unknown, depth: number): Fields {
    if (!isRecord(schema) || depth > DEEPEST) return {};
    if (typeof schema.$ref === "string") return this.#reference(schema, schema.$ref, depth);
    const converted: Record<string, unknown> = {};
    const inner = (value: unknown) => (typeof value === "boolean" ? value : this.schema(value, depth + 1));
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined || value === null) continue;
      if (KEPT.has(keyword)) converted[keyword] = value;
      else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value))
        converted[keyword] = Object.fromEntries(
          Object.entries(value)
            .filter(([, one]) => !isReadOnly(one))
            .map(([name, one]) => [name, inner(one)]),
        );
      else if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
        converted[keyword] = value.map(inner);
      else if (SCHEMA_KEYWORDS.has(keyword)) converted[keyword] = inner(value);
    }
    const required = requiredOf(schema);
    if (required.length > 0) converted.required = required;
    else delete converted.required;
    return nullable(schema, { ...described(schema), ...exclusive(schema, converted) });
  }

  #reference(schema: Fields, ref: string, depth: number): Fields {
    if (SHARED.test(ref))
      return nullable(schema, { ...described(schema), $ref: ref.replace(SHARED, "#/$defs/") });
    const target = resolveLocalRef(this.#document, ref);
    if (target === undefined)
      throw new Unsupported(
        ref.startsWith("#")
          ? `it refers to ${ref.slice(0, 80)}, which is not there`
          : `it refers to another file: ${ref.slice(0, 80)}`,
      );
    if (this.#open.has(ref)) return {};
    this.#opened += 1;
    if (this.#opened > MOST_OPENED) throw new Unsupported("its references open far too many schemas");
    this.#open.add(ref);
    const opened = this.schema(target, depth + 1);
    this.#open.delete(ref);
    return opened;
  }
}

/** What only answers hold must not be asked for. */
function isReadOnly(schema: unknown): boolean {
  return isRecord(schema) && schema.readOnly === true;
}

function requiredOf({ required, properties }: Fields): readonly unknown[] {
  if (!Array.isArray(required)) return [];
  const own = isRecord(properties) ? properties : {};
  return required.filter((name) => !(Object.hasOwn(own, String(name)) && isReadOnly(own[String(name)])));
}

/**
 * What the service takes when nothing is sent is told, but must not be sent: a change of one field would set all
 * the others back.
 */
function described({ description, default: standard }: Fields): Fields {
  const said = typeof description === "string" ? shortened(description) : "";
  const value = standard === undefined || standard === null ? undefined : JSON.stringify(standard);
  const note = value === undefined || value.length > LONGEST_DEFAULT ? "" : `(default: ${value})`;
  const text = [said, note].filter((part) => part !== "").join(" ");
  return text === "" ? {} : { description: text };
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
  return { description, anyOf: [rest, { type: "null" }] };
}

function shortened(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > LONGEST_DESCRIPTION ? `${plain.slice(0, LONGEST_DESCRIPTION - 1)}…` : plain;
}

/** All shared schemas of a document, by name. One that cannot be converted ends the operations that refer to it. */
export function sharedSchemas(document: Fields): Fields {
  const components = document.components;
  const shared = isRecord(components) ? components.schemas : document.definitions;
  return Object.fromEntries(
    Object.entries(isRecord(shared) ? shared : {}).flatMap(([name, schema]) => {
      try {
        return [[name, jsonSchemaOf(schema, document)] as const];
      } catch (error) {
        if (error instanceof Unsupported) return [];
        throw error;
      }
    }),
  );
}
