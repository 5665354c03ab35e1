import { isRecord } from "../../tool/schema-walk.js";
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

export interface OperationBody {
  readonly contentType: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: Fields;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const LONGEST_DESCRIPTION = 1_000;

export function isVersion2(document: Fields): boolean {
  return typeof document.swagger === "string";
}

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

interface Place {
  readonly document: Fields;
  readonly path: string;
  readonly pathItem: Fields;
  readonly method: string;
  readonly operation: Fields;
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
    tags: listOf(operation.tags).map(String),
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

/** Those of the path, replaced by those of the operation that have the same name and place. */
function parametersOf({ document, pathItem, operation }: Place): readonly Fields[] {
  const found = new Map<string, Fields>();
  for (const given of [...listOf(pathItem.parameters), ...listOf(operation.parameters)]) {
    const parameter = resolved(document, given);
    if (parameter !== undefined) found.set(`${String(parameter.in)} ${String(parameter.name)}`, parameter);
  }
  return [...found.values()];
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
    const schema = isVersion2(document)
      ? jsonSchemaOf(withoutOwn(parameter), document)
      : jsonSchemaOf(parameter.schema, document);
    return [
      {
        name,
        in: where,
        required,
        description: textOf(parameter.description),
        schema,
        ...styleOf(parameter),
      },
    ];
  });
}

/** In version 2 the parameter itself is the schema; these fields are not part of it. */
function withoutOwn(parameter: Fields): Fields {
  const { name: _, in: __, required: ___, description: ____, collectionFormat: _____, ...schema } = parameter;
  return schema;
}

const COLLECTIONS: Readonly<Record<string, { readonly style: string; readonly explode: boolean }>> = {
  csv: { style: "form", explode: false },
  ssv: { style: "spaceDelimited", explode: false },
  pipes: { style: "pipeDelimited", explode: false },
  multi: { style: "form", explode: true },
};

function styleOf(parameter: Fields): Pick<OperationInput, "style" | "explode"> {
  if (parameter.type === "array" && parameter.in === "query")
    return (
      COLLECTIONS[String(parameter.collectionFormat ?? "csv")] ?? { style: undefined, explode: undefined }
    );
  return {
    style: textOf(parameter.style),
    explode: typeof parameter.explode === "boolean" ? parameter.explode : undefined,
  };
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;
const TEXT_TYPE = /^text\/plain\b/i;

function bodyOf({ document, operation }: Place): OperationBody | undefined {
  const body = resolved(document, operation.requestBody);
  if (body === undefined) return undefined;
  const content = fieldsOf(body.content);
  const types = Object.keys(content);
  if (types.length === 0) return undefined;
  const contentType =
    [JSON_TYPE, FORM_TYPE, TEXT_TYPE]
      .map((wanted) => types.find((type) => wanted.test(type)))
      .find(Boolean) ?? types.find((type) => type === "*/*");
  if (contentType === undefined) throw new Unsupported(`its body is ${types.join(" or ")}`);
  return {
    contentType: contentType === "*/*" ? "application/json" : contentType,
    required: body.required === true,
    description: textOf(body.description),
    schema: jsonSchemaOf(fieldsOf(content[contentType]).schema, document),
  };
}

function bodyOfVersion2(place: Place): OperationBody | undefined {
  const { document, operation } = place;
  const parameters = parametersOf(place);
  const consumes = listOf(operation.consumes ?? document.consumes).map(String);
  const body = parameters.find((parameter) => parameter.in === "body");
  if (body !== undefined) {
    const contentType =
      consumes.length === 0 ? "application/json" : consumes.find((type) => JSON_TYPE.test(type));
    if (contentType === undefined) throw new Unsupported(`its body is ${consumes.join(" or ")}`);
    return {
      contentType,
      required: body.required === true,
      description: textOf(body.description),
      schema: jsonSchemaOf(body.schema, document),
    };
  }
  const form = parameters.filter((parameter) => parameter.in === "formData");
  if (form.length === 0) return undefined;
  if (
    form.some((parameter) => parameter.type === "file") ||
    (consumes.length > 0 && !consumes.some((type) => FORM_TYPE.test(type)))
  )
    throw new Unsupported("its body is multipart/form-data");
  const required = form.filter((parameter) => parameter.required === true).map(({ name }) => String(name));
  return {
    contentType: "application/x-www-form-urlencoded",
    required: required.length > 0,
    description: undefined,
    schema: {
      type: "object",
      properties: Object.fromEntries(
        form.map((parameter) => {
          const description = textOf(parameter.description);
          const schema = jsonSchemaOf(withoutOwn(parameter), document);
          return [String(parameter.name), description === undefined ? schema : { ...schema, description }];
        }),
      ),
      required,
    },
  };
}
