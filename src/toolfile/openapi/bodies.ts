import { type Place, parametersOf, type Style, styleOf, withoutOwn } from "./place.js";
import { type Fields, fieldsOf, listOf, resolved, textOf, Unsupported } from "./references.js";
import { jsonSchemaOf } from "./schemas.js";

export interface OperationBody {
  readonly contentType: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: Fields;
  /** How the fields of a form are written, where the document says so. */
  readonly styles: ReadonlyMap<string, Style>;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;
const TEXT_TYPE = /^text\/plain\b/i;
const MULTIPART_TYPE = /^multipart\/form-data\b/i;
const PREFERRED = [JSON_TYPE, FORM_TYPE, TEXT_TYPE, /^\*\/\*$/, MULTIPART_TYPE];
const NO_STYLES: ReadonlyMap<string, Style> = new Map();

export function isFormType(type: string): boolean {
  return FORM_TYPE.test(type) || MULTIPART_TYPE.test(type);
}

export function bodyOf({ document, operation }: Place): OperationBody | undefined {
  const body = resolved(document, operation.requestBody);
  if (body === undefined) return undefined;
  const content = fieldsOf(body.content);
  const types = Object.keys(content);
  if (types.length === 0) return undefined;
  const contentType = preferred(types);
  if (contentType === undefined) throw new Unsupported(`its body is ${types.join(" or ")}`);
  const { schema, encoding } = fieldsOf(content[contentType]);
  const encodings = Object.entries(fieldsOf(encoding)).map(([name, one]) => [name, fieldsOf(one)] as const);
  if (MULTIPART_TYPE.test(contentType)) checkFields({ document, schema, encodings });
  return {
    contentType: spelled(contentType),
    required: body.required === true,
    description: textOf(body.description),
    schema: jsonSchemaOf(schema, document),
    styles: new Map(encodings.map(([name, one]) => [name, styleOf(one)])),
  };
}

function preferred(types: readonly string[]): string | undefined {
  return PREFERRED.map((wanted) => types.find((type) => wanted.test(type))).find(Boolean);
}

function spelled(type: string): string {
  return type === "*/*" ? "application/json" : type;
}

/** A multipart body of plain fields is a form like another one; files cannot be sent. */
function checkFields(form: {
  readonly document: Fields;
  readonly schema: unknown;
  readonly encodings: readonly (readonly [name: string, encoding: Fields])[];
}): void {
  const properties = Object.values(fieldsOf(resolved(form.document, form.schema)?.properties));
  const hasFiles =
    properties.some((property) => isFile(property, form.document)) ||
    form.encodings.some(
      ([, { contentType }]) => !/^(?:text\/plain|application\/json|$)/.test(String(contentType ?? "")),
    );
  if (properties.length === 0 || hasFiles) throw new Unsupported("its body is multipart/form-data");
}

function isFile(property: unknown, document: Fields): boolean {
  const schema = resolved(document, property) ?? {};
  const item = schema.items === undefined ? undefined : resolved(document, schema.items);
  return holdsBytes(schema) || (item !== undefined && holdsBytes(item));
}

/** Since 3.1 a schema that says nothing stands for a file too. */
function holdsBytes(schema: Fields): boolean {
  const saysNothing = Object.keys(schema).every((key) => key === "description");
  return saysNothing || schema.format === "binary" || schema.contentMediaType !== undefined;
}

export function bodyOfVersion2(place: Place): OperationBody | undefined {
  const { document, operation } = place;
  const parameters = parametersOf(place);
  const consumes = listOf(operation.consumes ?? document.consumes).map(String);
  const body = parameters.find((parameter) => parameter.in === "body");
  if (body !== undefined) {
    const isAny = consumes.length === 0 || consumes.includes("*/*");
    const contentType =
      consumes.find((type) => JSON_TYPE.test(type)) ?? (isAny ? "application/json" : undefined);
    if (contentType === undefined) throw new Unsupported(`its body is ${consumes.join(" or ")}`);
    return {
      contentType,
      required: body.required === true,
      description: textOf(body.description),
      schema: jsonSchemaOf(body.schema, document),
      styles: NO_STYLES,
    };
  }
  const form = parameters.filter((parameter) => parameter.in === "formData");
  return form.length === 0 ? undefined : formOf(form, { document, consumes });
}

function formOf(
  form: readonly Fields[],
  { document, consumes }: { readonly document: Fields; readonly consumes: readonly string[] },
): OperationBody {
  if (form.some((parameter) => parameter.type === "file"))
    throw new Unsupported("its body is multipart/form-data");
  const asForm = consumes.length === 0 || consumes.some((type) => FORM_TYPE.test(type));
  const isMultipart = !asForm && consumes.some((type) => MULTIPART_TYPE.test(type));
  const required = form.filter((parameter) => parameter.required === true).map(({ name }) => String(name));
  return {
    contentType: isMultipart ? "multipart/form-data" : "application/x-www-form-urlencoded",
    required: required.length > 0,
    description: undefined,
    schema: {
      type: "object",
      properties: Object.fromEntries(
        form.map((parameter) => {
          const { description } = parameter;
          return [String(parameter.name), jsonSchemaOf({ ...withoutOwn(parameter), description }, document)];
        }),
      ),
      required,
    },
    styles: new Map(form.map((parameter) => [String(parameter.name), styleOf(parameter)])),
  };
}
