import { isRecord } from "../../base/record.js";
import { bodyOf, bodyOfVersion2, type OperationBody } from "./bodies.js";
import { isVersion2, type Place, parametersOf, styleOf, withoutOwn } from "./place.js";
import { type Fields, fieldsOf, listOf, resolved, textOf, Unsupported } from "./references.js";
import { jsonSchemaOf } from "./schemas.js";

/** An operation of any version of the specification, with its references followed. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
  readonly tags: readonly string[];
  readonly description: string;
  readonly deprecated: boolean;
  /** Put together when asked for: an operation that nobody wants need not be understood. */
  inputs(): readonly OperationInput[];
  body(): OperationBody | undefined;
  /** Alternatives, each a set of schemes; undefined when the document says nothing. */
  readonly security: readonly Fields[] | undefined;
  readonly servers: readonly unknown[];
}

export interface OperationInput {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: Fields;
  readonly style: string | undefined;
  readonly explode: boolean | undefined;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const LONGEST_DESCRIPTION = 1_000;

/** Every operation, in the order of the document; `onTrouble` is told of paths that cannot be read at all. */
export function operationsOf(
  document: Fields,
  onTrouble: (path: string, reason: string) => void,
): readonly Operation[] {
  return Object.entries(fieldsOf(document.paths)).flatMap(([path, item]) => {
    if (!path.startsWith("/")) return [];
    let pathItem: Fields | undefined;
    try {
      pathItem = resolved(document, item);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      onTrouble(path, error.message);
    }
    if (pathItem === undefined) return [];
    const around = pathItem;
    return METHODS.flatMap((method) => {
      const operation = around[method];
      return isRecord(operation) ? [read({ document, path, pathItem: around, method, operation })] : [];
    });
  });
}

function read(place: Place): Operation {
  const { document, path, pathItem, method, operation } = place;
  const summary = textOf(operation.summary) ?? textOf(pathItem.summary);
  const detail = textOf(operation.description);
  const words = [summary, detail === summary ? undefined : detail].filter((part) => part !== undefined);
  const deprecated = operation.deprecated === true;
  const said = words.join(". ").replace(/\s+/g, " ").replaceAll("..", ".");
  const security = operation.security ?? document.security;
  return {
    method: method.toUpperCase(),
    path,
    operationId: textOf(operation.operationId),
    tags: listOf(operation.tags).flatMap((tag) => textOf(tag) ?? []),
    description: `${deprecated ? "(deprecated) " : ""}${said || wordsOf(place)}`.slice(
      0,
      LONGEST_DESCRIPTION,
    ),
    deprecated,
    inputs: () => inputsOf(place),
    body: () => (isVersion2(document) ? bodyOfVersion2(place) : bodyOf(place)),
    security: Array.isArray(security) ? security.filter(isRecord) : undefined,
    servers:
      ([operation.servers, pathItem.servers, document.servers].find(
        (list) => Array.isArray(list) && list.length > 0,
      ) as readonly unknown[]) ?? [],
  };
}

/** What an operation without a description does, as far as its name tells. */
function wordsOf({ method, path, operation }: Place): string {
  const id = textOf(operation.operationId)?.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  const address = `${method.toUpperCase()} ${path}`;
  return id === undefined ? address : `${id.replace(/[^A-Za-z0-9]+/g, " ").toLowerCase()} (${address})`;
}

function inputsOf(place: Place): readonly OperationInput[] {
  const { document } = place;
  return parametersOf(place).flatMap((parameter) => {
    const [name, where] = [textOf(parameter.name), textOf(parameter.in)];
    if (name === undefined || where === undefined || where === "body" || where === "formData") return [];
    const required = parameter.required === true || where === "path";
    if (parameter.schema === undefined && isRecord(parameter.content)) {
      if (required)
        throw new Unsupported(`parameter ${name} is written as ${Object.keys(parameter.content)[0]}`);
      return [];
    }
    const schema = isVersion2(document) ? withoutOwn(parameter) : parameter.schema;
    return [
      {
        name,
        in: where,
        required,
        description: textOf(parameter.description),
        schema: inputSchema(schema, document),
        ...styleOf(parameter),
      },
    ];
  });
}

/** Outside of a body, sending what the service takes anyway changes nothing, and a model sees what it asks for. */
function inputSchema(schema: unknown, document: Fields): Fields {
  const { default: standard, ...rest } = fieldsOf(schema);
  const converted = jsonSchemaOf(rest, document);
  const allowed = Array.isArray(converted.enum) ? converted.enum : [standard];
  if (standard === undefined || standard === null || !allowed.includes(standard)) return converted;
  return { ...converted, default: standard };
}
