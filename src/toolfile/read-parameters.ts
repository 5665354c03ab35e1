import { isRecord } from "../base/record.js";
import { didYouMean } from "../config/did-you-mean.js";
import { type ConfigNode, describeNode, type MapNode, plainValue } from "../config/node.js";
import type { JsonSchema } from "../tool/json-schema.js";
import { unescapePointer } from "../tool/schema-walk.js";
import { QUERY_STYLES } from "./query.js";
import { Section } from "./section.js";
import type { Parameter } from "./tool-spec.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
const PLACES = ["path", "query", "header", "body"] as const;

/** Keywords of JSON Schema that may stand beside `name` and `required`. */
const KEYWORDS = (
  "type description title default enum const format pattern minLength maxLength minimum maximum " +
  "exclusiveMinimum exclusiveMaximum multipleOf items minItems maxItems uniqueItems properties " +
  "additionalProperties minProperties maxProperties anyOf oneOf allOf not $ref examples deprecated"
).split(" ");

/** The parameters of a tool: a list of named ones, or one JSON Schema of type object. */
export function readParameters(tool: Section): readonly Parameter[] {
  const node = tool.get("parameters");
  if (node === undefined) return [];
  if (node.kind === "list")
    return unique(
      tool,
      node.items.flatMap((item) => readListed(tool, item)),
    );
  if (node.kind === "map") return readSchema(tool, node);
  tool.wrong(
    node,
    `"parameters" of ${tool.what} must be a list or a JSON Schema, not ${describeNode(node)}`,
    "for example: parameters: [{ name: city, type: string, required: true }]",
  );
  return [];
}

function readListed(tool: Section, node: ConfigNode): readonly Parameter[] {
  if (node.kind !== "map") {
    tool.wrong(
      node,
      `a parameter of ${tool.what} must have at least a name, but it is ${describeNode(node)}`,
    );
    return [];
  }
  const section = new Section({ node, what: `a parameter of ${tool.what}`, problems: tool.problems });
  const name = section.text("name", { required: true });
  const required = section.get("required");
  const isFlag = required?.kind === "scalar" && typeof required.value === "boolean";
  if (required !== undefined && !isFlag && required.kind !== "list")
    section.wrong(
      required,
      `"required" of ${section.what} must be true or false, not ${describeNode(required)}`,
    );
  const whole = section.get("schema");
  const inline = keywordsOf(section, required?.kind === "list" ? ["required"] : []);
  const schema = whole === undefined ? inline : { ...wholeSchema(section, whole), ...inline };
  return make({ section, name, schema, required: isFlag && required.value === true, node });
}

function readSchema(tool: Section, node: MapNode): readonly Parameter[] {
  const section = new Section({ node, what: `parameters of ${tool.what}`, problems: tool.problems });
  section.choice("type", ["object"]);
  const required = new Set(section.texts("required"));
  section.boolean("additionalProperties");
  section.get("$schema");
  section.text("description");
  const properties = section.section("properties", `parameters of ${tool.what}`);
  section.finish();
  const found = (properties?.node.entries ?? []).flatMap(({ name, node: inner, place }) => {
    if (inner.kind !== "map") {
      tool.wrong(
        inner,
        `parameter ${name} of ${tool.what} must be a JSON Schema, not ${describeNode(inner)}`,
      );
      return [];
    }
    const at: MapNode = { ...inner, ...(place !== undefined && { place }) };
    const own = new Section({ node: at, what: `parameter ${name} of ${tool.what}`, problems: tool.problems });
    const schema = keywordsOf(own, ["required"]);
    return make({ section: own, name, schema, required: required.has(name), node: at });
  });
  const known = new Set(found.map(({ name }) => name));
  for (const name of required)
    if (!known.has(name)) tool.wrong(node, `"required" names ${name}, which is no parameter of ${tool.what}`);
  return found;
}

function make(parts: {
  readonly section: Section;
  readonly name: string | undefined;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly node: MapNode;
}): readonly Parameter[] {
  const { section, name, schema, required, node } = parts;
  const where = section.choice("in", PLACES);
  const sendAs = section.text("send_as");
  const style = section.choice("style", QUERY_STYLES);
  const explode = section.boolean("explode");
  const allowDash = section.boolean("allow_dash") ?? false;
  section.finish();
  if (name === undefined) return [];
  if (!NAME.test(name)) {
    section.wrong(
      node,
      `${JSON.stringify(name.slice(0, 80))} cannot be the name of a parameter`,
      "up to 64 letters, digits, _ and -, not beginning with a digit; send_as gives the name on the wire",
    );
    return [];
  }
  checkValues(section, { name, schema });
  return [
    {
      name,
      schema,
      required,
      sendAs: sendAs ?? name,
      allowDash,
      in: where,
      style,
      explode,
      place: node.place,
    },
  ];
}

function keywordsOf(section: Section, more: readonly string[]): JsonSchema {
  const schema: Record<string, unknown> = {};
  for (const keyword of [...KEYWORDS, ...more]) {
    const node = section.get(keyword);
    if (node === undefined) {
      // `default: null` is a value of its own.
      if (keyword === "default" && section.has(keyword)) schema.default = null;
      continue;
    }
    if (keyword === "type") checkType(section, node);
    schema[keyword] = plainValue(node);
  }
  return schema;
}

function wholeSchema(section: Section, node: ConfigNode): JsonSchema {
  const value = plainValue(node);
  if (isRecord(value)) return value;
  section.wrong(node, `"schema" of ${section.what} must be a JSON Schema, not ${describeNode(node)}`);
  return {};
}

function checkType(section: Section, node: ConfigNode): void {
  for (const item of node.kind === "list" ? node.items : [node]) {
    const type = item.kind === "scalar" ? String(item.value) : "";
    if (TYPES.includes(type)) continue;
    const hint = didYouMean(type, TYPES) ?? `known types: ${TYPES.join(", ")}`;
    section.wrong(item, `"type" of ${section.what} is ${describeNode(item)}, which is no type`, hint);
  }
}

function checkValues(section: Section, { name, schema }: { name: string; schema: JsonSchema }): void {
  const { enum: choices, default: standard } = schema;
  if (choices === undefined) return;
  const at = section.get("enum");
  if (!Array.isArray(choices) || choices.length === 0) {
    section.wrong(at, `"enum" of parameter ${name} must be a list of at least one value`);
    return;
  }
  if (standard !== undefined && !choices.some((choice) => choice === standard))
    section.wrong(
      section.get("default"),
      `the default of parameter ${name} is ${JSON.stringify(standard)}, which its enum does not allow`,
      didYouMean(String(standard), choices.map(String)) ?? `it allows ${choices.join(", ")}`,
    );
}

function unique(tool: Section, parameters: readonly Parameter[]): readonly Parameter[] {
  const seen = new Set<string>();
  for (const parameter of parameters) {
    if (seen.has(parameter.name)) tool.wrong(parameter, `parameter ${parameter.name} is written twice`);
    seen.add(parameter.name);
  }
  return parameters;
}

/** What a model is told: one object schema, with the shared definitions that it really uses. */
export function objectSchema(
  parameters: readonly Parameter[],
  definitions: Readonly<Record<string, unknown>>,
): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const schema = {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema: own }) => [name, own])),
    required: required.length > 0 ? required : undefined,
    additionalProperties: false,
  };
  const used = usedDefinitions(schema, definitions);
  return Object.keys(used).length === 0 ? schema : { ...schema, $defs: used };
}

const DEFINITION = "#/$defs/";

/** The shared definitions that a schema reaches, directly or through each other. */
export function usedDefinitions(
  schema: object,
  definitions: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const used = new Set<string>();
  const pending = [...referencesIn(schema)];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name) || !Object.hasOwn(definitions, name)) continue;
    used.add(name);
    const definition = definitions[name];
    if (isRecord(definition)) pending.push(...referencesIn(definition));
  }
  return Object.fromEntries([...used].sort().map((name) => [name, definitions[name]]));
}

/** Hundreds of tools of one file share their definitions, which need not be searched for each of them. */
const known = new WeakMap<object, readonly string[]>();

function referencesIn(schema: object): readonly string[] {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const names = new Set<string>();
  const pending: unknown[] = [schema];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (typeof part !== "object" || part === null) continue;
    const name = isRecord(part) ? referenced(part.$ref) : undefined;
    if (name !== undefined) names.add(name);
    for (const inner of Object.values(part)) if (inner !== undefined) pending.push(inner);
  }
  const found = [...names];
  known.set(schema, found);
  return found;
}

function referenced(ref: unknown): string | undefined {
  if (typeof ref !== "string" || !ref.startsWith(DEFINITION)) return undefined;
  const [name = ""] = ref.slice(DEFINITION.length).split("/");
  return unescapePointer(name);
}
