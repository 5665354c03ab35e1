import { isRecord } from "../../tool/schema-walk.js";
import type { Refined } from "../../tool/tool.js";
import { fillEndpoint, UnusableValue } from "./endpoint.js";
import { queryPairs } from "./query.js";
import { isForm, isJson } from "./read-http.js";
import { asText, fill, type Values } from "./template.js";
import type { HttpSpec, Where } from "./tool-spec.js";

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
  const headers: Record<string, string> = {};
  for (const [name, value] of spec.headers) headers[name] = asText(fill(value, args));
  for (const { name, sendAs } of placedIn(spec, "header")) {
    const value = args[name];
    if (value !== undefined && value !== null)
      headers[sendAs] = Array.isArray(value) ? value.map(asText).join(",") : asText(value);
  }
  const body = bodyOf(spec, args);
  if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === "content-type"))
    headers["content-type"] = spec.contentType;
  return { headers, body };
}

function bodyOf(spec: HttpSpec, args: Values): string | undefined {
  const content = spec.body === undefined ? bodyObject(spec, args) : fill(spec.body, args);
  if (content === undefined) return undefined;
  if (isJson(spec.contentType)) return JSON.stringify(content);
  if (!isForm(spec.contentType) || !isRecord(content)) return asText(content);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(content))
    for (const [key, text] of queryPairs(name, value, {})) form.append(key, text);
  return form.toString();
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
      return { ok: true, value: args as Values };
    } catch (error) {
      if (!(error instanceof UnusableValue)) throw error;
      return { ok: false, issues: [{ path: `/${error.parameter}`, message: error.message }] };
    }
  };
}
