/** JSON Schema as far as a form needs it; whatever it does not know becomes a JSON field. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

export type Kind =
  | { readonly kind: "text"; readonly lines: boolean }
  | { readonly kind: "number"; readonly whole: boolean }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly values: readonly unknown[] }
  | { readonly kind: "set"; readonly values: readonly unknown[] }
  | { readonly kind: "list"; readonly items: Schema }
  | { readonly kind: "pairs"; readonly values: Schema }
  | { readonly kind: "object"; readonly properties: Readonly<Record<string, Schema>> }
  | { readonly kind: "union"; readonly variants: readonly Schema[] }
  | { readonly kind: "json" };

const LONG =
  /^(code|content|text|body|message|prompt|script|command|sql|patch|old_string|new_string|task|context|input|data|spec)$/;
const DEEPEST = 6;

export function kindOf(name: string, schema: Schema): Kind {
  if (schema.const !== undefined) return { kind: "choice", values: [schema.const] };
  if (schema.enum !== undefined) return { kind: "choice", values: schema.enum };
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return unionOf(name, variants);
  if (Array.isArray(schema.type))
    return unionOf(
      name,
      schema.type.map((type) => ({ ...schema, type })),
    );
  switch (schema.type) {
    case "string":
      return { kind: "text", lines: LONG.test(name) };
    case "integer":
    case "number":
      return { kind: "number", whole: schema.type === "integer" };
    case "boolean":
      return { kind: "switch" };
    case "array":
      return listOf(schema);
    case "object":
      return objectOf(schema);
    default:
      return { kind: "json" };
  }
}

function unionOf(name: string, variants: readonly Schema[]): Kind {
  const real = variants.filter(({ type, const: only }) => type !== "null" && only !== null);
  const consts = real.map((one) => one.const);
  if (consts.length > 1 && consts.every((one) => one !== undefined))
    return { kind: "choice", values: consts };
  const [single] = real;
  if (real.length === 1 && single !== undefined) return kindOf(name, single);
  return real.length === 0 || real.length > 4 ? { kind: "json" } : { kind: "union", variants: real };
}

function listOf(schema: Schema): Kind {
  if (typeof schema.items !== "object") return { kind: "json" };
  const inner = kindOf("", schema.items);
  if (inner.kind === "choice") return { kind: "set", values: inner.values };
  return inner.kind === "json" ? { kind: "json" } : { kind: "list", items: schema.items };
}

function objectOf(schema: Schema): Kind {
  const { properties, additionalProperties: more } = schema;
  if (properties !== undefined && Object.keys(properties).length > 0) return { kind: "object", properties };
  if (more === false) return { kind: "json" };
  return { kind: "pairs", values: typeof more === "object" ? more : {} };
}

/** The word beside the label, in mono. */
export function typeWord(schema: Schema): string {
  const kind = kindOf("", schema);
  switch (kind.kind) {
    case "text":
      return schema.format ?? "text";
    case "number":
      return kind.whole ? "integer" : "number";
    case "switch":
      return "yes or no";
    case "choice":
      return "one of";
    case "set":
      return "any of";
    case "list":
      return `list of ${typeWord(kind.items)}`;
    case "pairs":
      return `text → ${kindOf("", kind.values).kind === "json" ? "any" : typeWord(kind.values)}`;
    case "object":
      return "object";
    case "union":
      return kind.variants.map(typeWord).join(" or ");
    default:
      return "JSON";
  }
}

/** Replaces `$ref` to the schema's own definitions, as deep as a form shows them. */
export function resolved(schema: Schema, root: Schema = schema, depth = 0): Schema {
  if (depth > DEEPEST) return {};
  const target = schema.$ref === undefined ? undefined : definitionOf(schema.$ref, root);
  if (target !== undefined) return resolved({ ...target, ...without(schema) }, root, depth + 1);
  const inner = (one: Schema) => resolved(one, root, depth + 1);
  return {
    ...schema,
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, one]) => [name, inner(one)]),
      ),
    }),
    ...(typeof schema.items === "object" && { items: inner(schema.items) }),
    ...(typeof schema.additionalProperties === "object" && {
      additionalProperties: inner(schema.additionalProperties),
    }),
    ...(schema.anyOf !== undefined && { anyOf: schema.anyOf.map(inner) }),
    ...(schema.oneOf !== undefined && { oneOf: schema.oneOf.map(inner) }),
  };
}

function definitionOf(ref: string, root: Schema): Schema | undefined {
  const [, place, name = ""] = /^#\/(\$defs|definitions)\/(.+)$/.exec(ref) ?? [];
  return (place === "$defs" ? root.$defs : root.definitions)?.[name];
}

function without({ $ref: _ref, ...rest }: Schema): Schema {
  return rest;
}

/** Which variant of a union a value is. */
export function variantOf(value: unknown, variants: readonly Schema[]): number {
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const found = variants.findIndex(
    (variant) => variant.type === type || (type === "number" && variant.type === "integer"),
  );
  return Math.max(0, found);
}

/** What stands below a field besides its description; the default stands in the field. */
export function boundsOf(schema: Schema): string {
  const { minimum, maximum } = schema;
  const bounds =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `At least ${minimum}`
        : maximum !== undefined
          ? `At most ${maximum}`
          : "";
  return bounds;
}
