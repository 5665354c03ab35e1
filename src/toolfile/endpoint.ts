import { asText, type Values } from "./template.js";

/** A URL whose path and query may have holes: `{name}`. Scheme, host and port are fixed. */
export interface Endpoint {
  readonly origin: string;
  /** Texts and names in turns, beginning with a text. */
  readonly path: readonly string[];
  readonly query: readonly string[];
}

export type ReadEndpoint =
  | { readonly ok: true; readonly endpoint: Endpoint; readonly names: readonly string[] }
  | { readonly ok: false; readonly message: string; readonly hint?: string | undefined };

const SHAPE = /^(https?):\/\/([^/?#\\]*)([^?#]*)(?:\?([^#]*))?$/i;
const HOLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function readEndpoint(text: string): ReadEndpoint {
  const [, scheme = "", authority = "", path = "", query = ""] = SHAPE.exec(text) ?? [];
  if (scheme === "") {
    return refused(
      "it must be a whole http:// or https:// address without a fragment",
      "for example https://api.example.com/items/{id}; a part of it can be written as base_url under defaults",
    );
  }
  if (/[{}]/.test(authority))
    return refused(
      "host and port cannot be templates: an argument must not choose where the credentials go",
      "write the host out, or make one tool per host",
    );
  if (authority.includes("@"))
    return refused("it holds a user name or password", "use auth with username_env and password_env");
  if (!URL.canParse(`${scheme}://${authority}`)) return refused(`${authority} is not a valid host`);
  if (/\{\{|\}\}/.test(text))
    return refused("parameters of an address have one pair of braces", "write {name}, not {{name}}");
  if (/[\s\\]/.test(path + query)) return refused("it holds a space or a backslash");
  const pathPieces = pieces(path === "" ? "/" : path);
  const queryPieces = pieces(query);
  if (pathPieces === undefined || queryPieces === undefined)
    return refused("its braces do not match, or hold something else than a parameter name", "write {name}");
  const endpoint = {
    origin: new URL(`${scheme}://${authority}`).origin,
    path: pathPieces,
    query: queryPieces,
  };
  const bad = endpoint.path.length === 1 ? dotSegment(endpoint.path[0] ?? "") : undefined;
  if (bad !== undefined) return refused(`its path has a segment ${JSON.stringify(bad)}`);
  return { ok: true, endpoint, names: [...names(pathPieces), ...names(queryPieces)] };
}

function refused(message: string, hint?: string): ReadEndpoint {
  return { ok: false, message, hint };
}

function pieces(text: string): readonly string[] | undefined {
  const parts = text.split(/[{}]/);
  const wellFormed =
    parts.length % 2 === 1 &&
    /^[^{}]*(?:\{[^{}]*\}[^{}]*)*$/.test(text) &&
    names(parts).every((name) => HOLE_NAME.test(name));
  return wellFormed ? parts : undefined;
}

function names(parts: readonly string[]): readonly string[] {
  return parts.filter((_, index) => index % 2 === 1);
}

/** A value that cannot stand in the address. */
export class UnusableValue extends Error {
  readonly parameter: string;

  constructor(parameter: string, why: string) {
    super(why);
    this.parameter = parameter;
  }
}

/**
 * The address of one call. Values are percent-encoded, so none can end its segment, and a segment that would mean
 * "this folder" or "the one above" is refused.
 */
export function fillEndpoint(
  endpoint: Endpoint,
  values: Values,
  extraQuery: readonly (readonly [name: string, value: string])[] = [],
): string {
  const path = filled(endpoint.path, (name) => {
    const text = plainText(values[name]);
    if (text === "") throw new UnusableValue(name, "it is part of the address and cannot be empty");
    return encoded(name, text);
  });
  const dots = dotSegment(path);
  if (dots !== undefined) {
    const culprit = names(endpoint.path).find((name) => /^\.+$/.test(plainText(values[name])));
    throw new UnusableValue(
      culprit ?? names(endpoint.path)[0] ?? "",
      `it would make ${JSON.stringify(dots)} a part of the path, which means another address`,
    );
  }
  const fixed = filled(endpoint.query, (name) => encoded(name, plainText(values[name])));
  const extra = extraQuery.map(([name, value]) => `${encoded(name, name)}=${encoded(name, value)}`);
  const query = [...(fixed === "" ? [] : [fixed]), ...extra].join("&");
  const url = new URL(`${endpoint.origin}${path}${query === "" ? "" : `?${query}`}`);
  // The two lines above must already make this impossible; an address that moved is never sent.
  if (url.origin !== endpoint.origin || url.pathname.split("/").length !== path.split("/").length)
    throw new UnusableValue(names(endpoint.path)[0] ?? "", "it would change the address");
  return url.href;
}

function filled(parts: readonly string[], value: (name: string) => string): string {
  return parts.map((part, index) => (index % 2 === 0 ? part : value(part))).join("");
}

function plainText(value: unknown): string {
  return Array.isArray(value) ? value.map(asText).join(",") : asText(value);
}

export function encoded(name: string, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new UnusableValue(name, "it holds half of a character and cannot be sent");
  }
}

function dotSegment(path: string): string | undefined {
  return path.split("/").find((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
