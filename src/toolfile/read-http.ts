import { didYouMean } from "../config/did-you-mean.js";
import { describeNode } from "../config/node.js";
import { requestHeaders } from "../net/headers.js";
import { bare, FORM_TYPE, isForm, isJson, isMultipart, JSON_TYPE, MULTIPART_TYPE } from "./content-type.js";
import { readEndpoint } from "./endpoint.js";
import { readAuth } from "./read-auth.js";
import { readResponse, readRetries } from "./read-exchange.js";
import type { Section } from "./section.js";
import { checkHoles, readTemplate, type Template, writtenTexts } from "./template.js";
import {
  type Auth,
  type CommonSpec,
  type HttpSpec,
  METHODS,
  type Method,
  type Parameter,
  type PlacedParameter,
  type Where,
} from "./tool-spec.js";
import { isCredentialHeader, looksSecret } from "./written-secret.js";

const WITHOUT_BODY: readonly Method[] = ["GET", "HEAD", "OPTIONS"];
const PREFERS_QUERY: readonly Method[] = [...WITHOUT_BODY, "DELETE"];

export function readHttp(tool: Section, common: CommonSpec): HttpSpec | undefined {
  const method = readMethod(tool);
  const address = readAddress(tool);
  const auth = readAuth(tool);
  const headers = readHeaders(tool);
  const bodyNode = tool.get("body");
  const body = bodyNode === undefined ? undefined : readTemplate(bodyNode, tool.problems);
  if (body !== undefined && writtenTexts(body).some(looksSecret))
    tool.wrong(
      bodyNode,
      `"body" of ${tool.what} holds a credential, which must not be in the file`,
      "use auth, which takes it from an environment variable",
    );
  const contentType = readContentType(tool, body);
  const response = readResponse(tool);
  const retries = readRetries(tool);
  const followRedirects = tool.boolean("follow_redirects") ?? true;
  tool.get("base_url");
  tool.finish({ url: "the address is called endpoint here", params: "they are called parameters here" });
  if (address === undefined) return undefined;
  if (body !== undefined && WITHOUT_BODY.includes(method))
    tool.wrong(bodyNode, `a ${method} request cannot have a body`, "use POST, or in: query");
  const templates = [...headers.map(([, value]) => value), ...(body === undefined ? [] : [body])];
  const placed = placeParameters({ tool, common, method, body, templates, inAddress: address.names });
  checkWireNames(tool, { placed, headers, auth });
  for (const one of auth) {
    const refusal = one.type === "header" ? headerRefusal(one.name) : undefined;
    if (refusal !== undefined) tool.wrong(tool.get("auth"), `auth of ${tool.what}: ${refusal}`);
  }
  return {
    ...common,
    type: "http_wrapper",
    endpoint: address.endpoint,
    method,
    auth,
    headers,
    placed,
    body,
    contentType,
    response,
    retries,
    followRedirects,
  };
}

function readMethod(tool: Section): Method {
  const written = tool.text("method");
  if (written === undefined) return "GET";
  const method = METHODS.find((known) => known === written.toUpperCase());
  if (method !== undefined) return method;
  const hint = didYouMean(written, METHODS) ?? `known methods: ${METHODS.join(", ")}`;
  tool.wrong(tool.get("method"), `"method" of ${tool.what} is ${JSON.stringify(written)}`, hint);
  return "GET";
}

function readAddress(tool: Section) {
  const endpoint = tool.text("endpoint", { required: true });
  if (endpoint === undefined) return undefined;
  const base = endpoint.startsWith("/") ? tool.text("base_url") : undefined;
  if (looksSecret(endpoint) || (base !== undefined && looksSecret(base))) {
    tool.wrong(
      tool.get("endpoint"),
      `"endpoint" of ${tool.what} holds a credential`,
      "use auth with type: query",
    );
    return undefined;
  }
  const address = readEndpoint(base === undefined ? endpoint : base.replace(/\/+$/, "") + endpoint);
  if (address.ok) return address;
  tool.wrong(
    tool.get("endpoint"),
    `"endpoint" of ${tool.what} cannot be used: ${address.message}`,
    address.hint,
  );
  return undefined;
}

function readHeaders(tool: Section): HttpSpec["headers"] {
  const section = tool.section("headers", `headers of ${tool.what}`);
  return (section?.node.entries ?? []).flatMap(({ name, node }) => {
    if (node.kind !== "scalar" || node.value === null) {
      tool.wrong(node, `header ${name} of ${tool.what} must be text, not ${describeNode(node)}`);
      return [];
    }
    const value = readTemplate({ ...node, value: String(node.value) }, tool.problems);
    const isFixed = value.kind === "literal";
    if ((isFixed && isCredentialHeader(name)) || writtenTexts(value).some(looksSecret)) {
      const hint = `use auth: { type: header, name: ${name}, value_env: NAME_OF_A_VARIABLE }`;
      tool.wrong(
        node,
        `header ${name} of ${tool.what} holds a credential, which must not be in the file`,
        hint,
      );
      return [];
    }
    const refusal = headerRefusal(name);
    if (refusal !== undefined) tool.wrong(node, `${tool.what}: ${refusal}`);
    return [[name, value] as const];
  });
}

/** Why a header cannot be set, whatever its value. */
function headerRefusal(name: string): string | undefined {
  try {
    requestHeaders({ [name]: "value" });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function readContentType(tool: Section, body: Template | undefined): string {
  const written = tool.text("content_type");
  const type = bare(written ?? JSON_TYPE);
  const hasFields = isForm(type) || isMultipart(type);
  if (type.startsWith("multipart/") && !isMultipart(type))
    tool.wrong(
      tool.get("content_type"),
      `multipart bodies are not supported, except ${MULTIPART_TYPE}`,
      `use ${JSON_TYPE}, ${FORM_TYPE} or ${MULTIPART_TYPE}`,
    );
  else if (isJson(type) && isWrittenJson(body))
    tool.wrong(
      tool.get("body"),
      "a JSON body is written as a structure, not as text: inside a text, a value could change what it means",
      'for example: body: { title: "{{title}}" }',
    );
  else if (hasFields && body !== undefined && body.kind !== "map" && body.kind !== "value")
    tool.wrong(tool.get("body"), "the body of a form must be a map of names and values");
  else if (!isJson(type) && !hasFields && body === undefined && written !== undefined)
    tool.wrong(tool.get("content_type"), `a body of type ${type} needs "body", a text with {{name}} in it`);
  return written ?? JSON_TYPE;
}

function isWrittenJson(body: Template | undefined): boolean {
  if (body?.kind === "text") return typeof body.parts[0] === "string" && /^\s*[[{]/.test(body.parts[0]);
  return body?.kind === "literal" && typeof body.value === "string" && /^\s*[[{]/.test(body.value);
}

interface Placing {
  readonly tool: Section;
  readonly common: CommonSpec;
  readonly method: Method;
  readonly body: Template | undefined;
  readonly templates: readonly Template[];
  readonly inAddress: readonly string[];
}

function placeParameters(placing: Placing): readonly PlacedParameter[] {
  const { tool, common, templates, inAddress } = placing;
  const known = common.parameters.map(({ name }) => name);
  for (const name of new Set(inAddress))
    if (!known.includes(name))
      tool.wrong(
        tool.get("endpoint"),
        `the endpoint of ${tool.what} uses {${name}}, which is no parameter`,
        didYouMean(name, known) ?? "add it to parameters",
      );
  const inTemplates = checkHoles(tool, { templates, known });
  return common.parameters.map((parameter) => {
    const where = placeOf(parameter, placing, inTemplates);
    checkPlace(parameter, where, placing);
    return { ...parameter, where };
  });
}

function placeOf(parameter: Parameter, placing: Placing, inTemplates: ReadonlySet<string>): Where {
  const { name } = parameter;
  if (placing.inAddress.includes(name)) return "path";
  if (parameter.in !== undefined) return parameter.in;
  if (inTemplates.has(name)) return "template";
  return PREFERS_QUERY.includes(placing.method) ? "query" : "body";
}

function checkPlace(parameter: Parameter, where: Where, { tool, method, body, inAddress }: Placing): void {
  const { name } = parameter;
  const wrong = (message: string, hint?: string) => tool.wrong(parameter, message, hint);
  if (where === "path") {
    if (!inAddress.includes(name))
      wrong(`parameter ${name} is said to be in the path, but the endpoint has no {${name}}`);
    else if (parameter.in !== undefined && parameter.in !== "path")
      wrong(`parameter ${name} stands in the endpoint and cannot be in: ${parameter.in}`);
    else if (!parameter.required && parameter.schema.default === undefined)
      wrong(`parameter ${name} is part of the address, so it needs required: true or a default`);
    else if (parameter.schema.type === "object")
      wrong(`parameter ${name} is an object and cannot stand in an address`);
  }
  const refusal = where === "header" ? headerRefusal(parameter.sendAs) : undefined;
  if (refusal !== undefined) wrong(refusal);
  if (where === "header" && isCredentialHeader(parameter.sendAs))
    wrong(
      `parameter ${name} would let a model send the credential ${parameter.sendAs}`,
      "use auth, which takes it from an environment variable",
    );
  if (where !== "body") return;
  if (WITHOUT_BODY.includes(method))
    wrong(`parameter ${name} is in the body, which a ${method} request cannot have`, "use in: query");
  else if (body !== undefined)
    wrong(
      `parameter ${name} is not used: "body" says what is sent`,
      `write {{${name}}} somewhere in body, or give the parameter in: query`,
    );
}

/** What is sent under one name must come from one place; else one would silently replace the other. */
function checkWireNames(
  tool: Section,
  { placed, headers, auth }: Pick<HttpSpec, "placed" | "headers" | "auth">,
): void {
  const taken = new Map<string, string>();
  const take = (at: Parameters<Section["wrong"]>[0], name: string, by: string) => {
    const before = taken.get(name);
    taken.set(name, by);
    if (before !== undefined)
      tool.wrong(at, `${by} and ${before} of ${tool.what} would both be sent as ${name}`);
  };
  for (const [name] of headers)
    take(tool.get("headers"), `header ${name.toLowerCase()}`, `"headers" ${name}`);
  for (const one of auth) {
    const name = sentAs(one);
    if (name !== undefined) take(tool.get("auth"), name, `auth ${one.type}`);
  }
  for (const parameter of placed) {
    const name = wireName(parameter);
    if (name !== undefined) take(parameter, name, `parameter ${parameter.name}`);
  }
}

function sentAs(auth: Auth): string | undefined {
  switch (auth.type) {
    case "query":
      return `query ${auth.name}`;
    case "header":
      return `header ${auth.name.toLowerCase()}`;
    default:
      return "header authorization";
  }
}

function wireName({ where, sendAs }: PlacedParameter): string | undefined {
  if (where === "path" || where === "template") return undefined;
  return `${where} ${where === "header" ? sendAs.toLowerCase() : sendAs}`;
}
