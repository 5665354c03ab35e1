import { isRecord } from "../../base/record.js";
import { isFormType, type OperationBody } from "./bodies.js";
import type { Operation, OperationInput } from "./operations.js";
import type { Style } from "./place.js";
import { type Fields, Unsupported } from "./references.js";
import { type AuthSection, isProvided } from "./security.js";

/** The parameters of a tool file, with what the rest of the tool must say for them to work. */
export interface MergedInputs {
  readonly endpoint: string;
  readonly parameters: readonly Fields[];
  readonly body?: string;
  readonly contentType?: string;
}

/** What OpenAPI itself says to ignore, and what the client sets. */
const IGNORED_HEADER = /^(?:accept|content-type|authorization|cookie|host|content-length|user-agent)$/i;
/** What belongs to `auth`. */
const CREDENTIAL_HEADER = /^(?:.*[-_])?(?:api[-_]?key|token|secret|auth)$/i;
const MOST_FLATTENED = 40;
/** A form can only be written field by field. */
const MOST_FORM_FIELDS = 200;
const QUERY_STYLES = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];

/** Path, query, header and body values side by side under names of their own. */
export function mergeInputs({
  operation,
  shared,
  auth,
}: {
  readonly operation: Operation;
  readonly shared: Fields;
  readonly auth: readonly AuthSection[];
}): MergedInputs {
  const taken = new Set<string>();
  const parameters: Fields[] = [];
  let endpoint = operation.path;
  const inputs = withPathHoles(operation.path, operation.inputs());
  for (const input of inputs) {
    if (isProvided(auth, input) || !isSendable(input)) continue;
    const name = freeName(input.name, input.in, taken);
    if (input.in === "path") endpoint = endpoint.replaceAll(`{${input.name}}`, `{${name}}`);
    parameters.push(parameterOf(input, name));
  }
  const body = operation.body();
  if (body === undefined) return { endpoint, parameters };
  if (operation.method === "GET" || operation.method === "HEAD" || operation.method === "OPTIONS") {
    if (body.required) throw new Unsupported(`a ${operation.method} request cannot have a body`);
    return { endpoint, parameters };
  }
  const { contentType } = body;
  const flat = flattened(body, shared);
  if (flat === undefined) {
    if (/^multipart/i.test(contentType)) throw new Unsupported(`its body is ${contentType}`);
    const name = freeName("body", "request", taken);
    parameters.push({
      name,
      required: body.required ? true : undefined,
      description: body.description === undefined ? undefined : brief(body.description),
      schema: body.schema,
    });
    return { endpoint, parameters, body: `{{${name}}}`, contentType };
  }
  for (const [property, { schema, required }] of flat) {
    const name = freeName(property, "body", taken);
    parameters.push({
      name,
      in: "body",
      send_as: name === property ? undefined : property,
      required: required ? true : undefined,
      ...(isFormType(contentType) && writing(body.styles.get(property))),
      schema,
    });
  }
  return { endpoint, parameters, contentType };
}

/** A hole in the path that nobody has described is a text. */
function withPathHoles(path: string, inputs: readonly OperationInput[]): readonly OperationInput[] {
  const holes = [...path.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] ?? "");
  const known = inputs.filter((input) => input.in !== "path" || holes.includes(input.name));
  const missing = [...new Set(holes)].filter(
    (name) => !known.some((input) => input.in === "path" && input.name === name),
  );
  return [
    ...missing.map((name) => ({
      name,
      in: "path",
      required: true,
      description: undefined,
      schema: { type: "string" },
      style: undefined,
      explode: undefined,
    })),
    ...known,
  ];
}

function isSendable(input: OperationInput): boolean {
  const { name, style } = input;
  if (input.in === "path") {
    if (style === "matrix" || style === "label")
      throw new Unsupported(`parameter ${name} has style ${style}`);
    return true;
  }
  if (input.in === "header") return !IGNORED_HEADER.test(name) && !CREDENTIAL_HEADER.test(name);
  if (input.in === "query") return true;
  if (input.required) throw new Unsupported(`parameter ${name} is in a ${input.in}`);
  return false;
}

/** Headers that an operation demands and that only somebody with a credential can fill. */
export function credentialHeaders(operation: Operation): readonly string[] {
  return operation
    .inputs()
    .filter(({ in: where, name, required }) => where === "header" && required && CREDENTIAL_HEADER.test(name))
    .map(({ name }) => name);
}

function parameterOf(input: OperationInput, name: string): Fields {
  return {
    name,
    in: input.in,
    send_as: name !== input.name && input.in !== "path" ? input.name : undefined,
    required: input.required ? true : undefined,
    description: input.description === undefined ? undefined : brief(input.description),
    ...(input.in === "query" && writing(input)),
    schema: input.schema,
  };
}

function writing({ style, explode }: Style = { style: undefined, explode: undefined }): Fields {
  return {
    style: style !== undefined && style !== "form" && QUERY_STYLES.includes(style) ? style : undefined,
    explode: isJoined(style, explode) ? false : undefined,
  };
}

/** OpenAPI repeats the name for each item only where nothing or `form` is said. */
function isJoined(style: string | undefined, explode: boolean | undefined): boolean {
  return (
    explode === false || (explode === undefined && (style === "spaceDelimited" || style === "pipeDelimited"))
  );
}

/** The properties of a body that is a plain object; undefined when it has to be given as a whole. */
function flattened(
  body: OperationBody,
  shared: Fields,
): ReadonlyMap<string, { readonly schema: Fields; readonly required: boolean }> | undefined {
  const schema = objectBehind(body.schema, shared);
  if (schema === undefined || !isRecord(schema.properties)) return undefined;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = Object.entries(schema.properties);
  const isPlain =
    (schema.type === undefined || schema.type === "object") &&
    !["oneOf", "anyOf", "allOf", "not", "if", "patternProperties", "minProperties"].some(
      (word) => word in schema,
    ) &&
    (schema.additionalProperties === undefined || schema.additionalProperties === false);
  const most = isFormType(body.contentType) ? MOST_FORM_FIELDS : MOST_FLATTENED;
  if (!isPlain || properties.length === 0 || properties.length > most) return undefined;
  // An optional body with required parts cannot be told apart from a forgotten one.
  if (!body.required && required.size > 0) return undefined;
  return new Map(
    properties.map(([name, inner]) => [
      name,
      { schema: isRecord(inner) ? inner : {}, required: required.has(name) },
    ]),
  );
}

function objectBehind(schema: Fields, shared: Fields): Fields | undefined {
  if (typeof schema.$ref !== "string") return schema;
  const target = shared[schema.$ref.replace("#/$defs/", "").replaceAll("~1", "/").replaceAll("~0", "~")];
  return isRecord(target) && target.$ref === undefined ? target : undefined;
}

function freeName(wanted: string, where: string, taken: Set<string>): string {
  const plain =
    wanted
      .replace(/[^A-Za-z0-9_-]+/g, "_")
      .replace(/^[^A-Za-z_]+/, "_")
      .slice(0, 56) || "_";
  let name = plain;
  for (let count = 1; taken.has(name); count += 1)
    name = count === 1 ? `${where}_${plain}` : `${where}_${plain}_${count}`;
  taken.add(name);
  return name;
}

function brief(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > 300 ? `${plain.slice(0, 299)}…` : plain;
}
