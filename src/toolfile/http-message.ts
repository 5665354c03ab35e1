import { randomBytes } from "node:crypto";
import { isRecord } from "../base/record.js";
import { requestHeaders } from "../net/headers.js";
import { ToolError } from "../tool/errors.js";
import type { Refined } from "../tool/tool.js";
import { isForm, isJson, isMultipart } from "./content-type.js";
import { fillEndpoint, UnusableValue } from "./endpoint.js";
import { type Pair, queryPairs } from "./query.js";
import { asText, fill, type Values } from "./template.js";
import type { HttpSpec, PlacedParameter, Where } from "./tool-spec.js";

/** One request as the arguments of a call make it, before any credential is added. */
export interface HttpMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The exact address of a call; the same for the same arguments. Throws `UnusableValue`. */
export function addressOf(spec: HttpSpec, args: Values): string {
  const query = placedIn(spec, "query").flatMap((parameter) =>
    queryPairs(parameter.sendAs, args[parameter.name], parameter),
  );
  return fillEndpoint(spec.endpoint, args, query);
}

export function messageOf(spec: HttpSpec, args: Values): HttpMessage {
  const headers = headersOf(spec, args);
  const written = writtenBody(spec, args);
  if (written === undefined) return { headers, body: undefined };
  const isTold = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return {
    headers: isTold ? headers : { ...headers, "content-type": written.contentType },
    body: written.body,
  };
}

function headersOf(spec: HttpSpec, args: Values): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, template] of spec.headers) {
    const value = fill(template, args);
    if (value !== undefined && value !== null) headers[name] = asText(value);
  }
  for (const { name, sendAs } of placedIn(spec, "header")) {
    const value = args[name];
    if (value !== undefined && value !== null)
      headers[sendAs] = Array.isArray(value) ? value.map(asText).join(",") : asText(value);
  }
  return headers;
}

function writtenBody(
  spec: HttpSpec,
  args: Values,
): { readonly contentType: string; readonly body: string } | undefined {
  const { contentType } = spec;
  const content = spec.body === undefined ? bodyObject(spec, args) : fill(spec.body, args);
  if (content === undefined) return undefined;
  if (isJson(contentType)) return { contentType, body: JSON.stringify(content) };
  if (!isRecord(content) || !(isForm(contentType) || isMultipart(contentType)))
    return { contentType, body: asText(content) };
  const written = new Map(placedIn(spec, "body").map((parameter) => [parameter.sendAs, parameter]));
  const fields = Object.entries(content).flatMap(([name, value]) =>
    formPairs(name, value, { spec, style: written.get(name) }),
  );
  if (isMultipart(contentType)) return multipartForm(fields);
  const form = new URLSearchParams();
  for (const [name, text] of fields) form.append(name, text);
  return { contentType, body: form.toString() };
}

/** Where nothing is said, an object keeps its name: as JSON in a part of its own, else as `name[key]`. */
function formPairs(
  name: string,
  value: unknown,
  { spec, style }: { readonly spec: HttpSpec; readonly style: PlacedParameter | undefined },
): readonly Pair[] {
  const isSaid = style?.style !== undefined || style?.explode !== undefined;
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (isSaid || !items.some((item) => typeof item === "object" && item !== null))
    return queryPairs(name, value, style ?? {});
  if (!isMultipart(spec.contentType)) return queryPairs(name, value, { style: "deepObject" });
  return items.map((item) => [name, asText(item)] as const);
}

function bodyObject(spec: HttpSpec, args: Values): Readonly<Record<string, unknown>> | undefined {
  const placed = placedIn(spec, "body");
  if (placed.length === 0) return undefined;
  return Object.fromEntries(
    placed.filter(({ name }) => args[name] !== undefined).map(({ name, sendAs }) => [sendAs, args[name]]),
  );
}

function placedIn(spec: HttpSpec, where: Where) {
  return spec.placed.filter((parameter) => parameter.where === where);
}

/** Arguments that fit the schema and still cannot be sent are told to the caller, not to the server. */
export function refineFor(spec: HttpSpec): (args: unknown) => Refined<Values> {
  return (args) => {
    try {
      addressOf(spec, args as Values);
      requestHeaders(headersOf(spec, args as Values));
      return { ok: true, value: args as Values };
    } catch (error) {
      if (error instanceof UnusableValue)
        return { ok: false, issues: [{ path: `/${error.parameter}`, message: error.message }] };
      if (ToolError.isInstance(error)) return { ok: false, issues: [{ path: "", message: error.message }] };
      throw error;
    }
  };
}

/** A form of plain fields in the form browsers send it, with the boundary that its header must name. */
export function multipartForm(
  fields: readonly Pair[],
  boundary = `hermes-${randomBytes(16).toString("hex")}`,
): { readonly contentType: string; readonly body: string } {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: `${parts.join("")}--${boundary}--\r\n`,
  };
}

/** A name cannot end its quotes or its line. */
function escaped(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
