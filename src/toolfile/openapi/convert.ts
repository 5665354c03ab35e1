import picomatch from "picomatch";
import { sha256 } from "../../base/hash.js";
import { problemsOf } from "../read-file.js";
import { usedDefinitions } from "../read-parameters.js";
import { credentialHeaders, mergeInputs } from "./merge-inputs.js";
import { type Operation, operationsOf } from "./operations.js";
import { isVersion2 } from "./place.js";
import { type Fields, fieldsOf, listOf, textOf, Unsupported } from "./references.js";
import { sharedSchemas } from "./schemas.js";
import { type AuthSection, authFor, withHeaders } from "./security.js";

export interface ImportOptions {
  readonly prefix?: string | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly baseUrl?: string | undefined;
  /** Instead of what the document says. */
  readonly auth?: readonly AuthSection[] | undefined;
  /** Where the document was fetched from: relative addresses begin there. */
  readonly documentUrl?: string | undefined;
}

export interface LeftOut {
  readonly operation: string;
  readonly reason: string;
}

export type Imported =
  | {
      readonly ok: true;
      readonly service: string;
      /** The content of a tool file. */
      readonly file: Fields;
      readonly tools: readonly { readonly name: string; readonly method: string; readonly path: string }[];
      readonly leftOut: readonly LeftOut[];
    }
  | { readonly ok: false; readonly message: string; readonly hint?: string | undefined };

/** Makes the tools of a service from its OpenAPI description. Nothing is dropped without being told. */
export function importOpenApi(document: unknown, options: ImportOptions = {}): Imported {
  const root = fieldsOf(document);
  const version = textOf(root.openapi) ?? textOf(root.swagger);
  if (version === undefined || !/^(?:2\.0|3\.[01](?:\.|$))/.test(version))
    return {
      ok: false,
      message: version === undefined ? "it is no OpenAPI document" : `version ${version} is not supported`,
      hint: 'It must say openapi: "3.0.x" or "3.1.x", or swagger: "2.0".',
    };
  const title = textOf(fieldsOf(root.info).title);
  const service = options.prefix === undefined ? serviceName(title ?? "") : slug(options.prefix);
  if (!/^[A-Za-z]/.test(service) || service.length > 40)
    return {
      ok: false,
      message: `${JSON.stringify(service)} cannot begin the names of tools`,
      hint: "Use --prefix with up to 40 letters, digits and _.",
    };
  const baseUrl = options.baseUrl?.replace(/\/+$/, "") ?? documentBase(root, options.documentUrl);
  if (baseUrl === undefined)
    return {
      ok: false,
      message: "it does not say where the service is",
      hint: "Give its address with --base-url.",
    };
  return convert({ root, options, service, baseUrl, title });
}

function documentBase(root: Fields, documentUrl: string | undefined): string | undefined {
  if (isVersion2(root)) return hostUrl(root, documentUrl);
  const servers = Array.isArray(root.servers) && root.servers.length > 0 ? root.servers : [{ url: "/" }];
  return serverUrl(servers, documentUrl);
}

interface Converting {
  readonly root: Fields;
  readonly options: ImportOptions;
  readonly service: string;
  readonly baseUrl: string;
  readonly title: string | undefined;
}

function convert({ root, options, service, baseUrl, title }: Converting): Imported {
  const shared = sharedSchemas(root);
  const leftOut: LeftOut[] = [];
  const made: {
    readonly operation: Operation;
    readonly auth: readonly AuthSection[];
    readonly tool: Fields;
  }[] = [];
  const operations = operationsOf(root, (path, reason) => leftOut.push({ operation: path, reason }));
  const names = toolNames(service, operations);
  const isChosen = chooser(options);
  for (const operation of operations) {
    const name = names.get(operation) ?? "";
    if (!isChosen(operation, name)) continue;
    try {
      const auth =
        options.auth ??
        withHeaders(authFor({ document: root, service, security: operation.security }), {
          headers: credentialHeaders(operation),
          service,
        });
      made.push({ operation, auth, tool: toolOf({ operation, name, shared, baseUrl, options, auth }) });
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      leftOut.push({ operation: `${operation.method} ${operation.path}`, reason: error.message });
    }
  }
  const usual = mostFrequent(made.map(({ auth }) => auth));
  const defaults = {
    type: "http_wrapper",
    base_url: baseUrl,
    toolset: service,
    auth: usual.length > 0 ? (usual.length === 1 ? usual[0] : usual) : undefined,
  };
  const kept = made.flatMap(({ operation, auth, tool }) => {
    const whole = JSON.stringify(auth) === JSON.stringify(usual) ? tool : { ...tool, auth };
    const [problem] = problemsOf({ tool: whole, defaults, definitions: shared });
    if (problem === undefined) return [{ operation, tool: whole }];
    leftOut.push({ operation: `${operation.method} ${operation.path}`, reason: problem.message });
    return [];
  });
  const tools = kept.map(({ tool }) => tool);
  const definitions = usedDefinitions(tools, shared);
  return {
    ok: true,
    service,
    file: {
      imported: {
        format: isVersion2(root) ? "swagger 2.0" : `openapi ${String(root.openapi)}`,
        title,
        from: options.documentUrl === undefined ? undefined : withoutCredentials(options.documentUrl),
      },
      defaults,
      tools,
      $defs: Object.keys(definitions).length > 0 ? definitions : undefined,
    },
    tools: kept.map(({ operation: { method, path }, tool }) => ({ name: String(tool.name), method, path })),
    leftOut,
  };
}

/** An address may hold a token, which does not belong into a file. */
function withoutCredentials(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

function toolOf(parts: {
  readonly operation: Operation;
  readonly name: string;
  readonly shared: Fields;
  readonly baseUrl: string;
  readonly options: ImportOptions;
  readonly auth: readonly AuthSection[];
}): Fields {
  const { operation, name, shared, baseUrl, options, auth } = parts;
  if (operation.method === "TRACE") throw new Unsupported("TRACE requests are not supported");
  const { endpoint, parameters, body, contentType } = mergeInputs({ operation, shared, auth });
  const own =
    options.baseUrl === undefined && operation.servers.length > 0
      ? serverUrl(operation.servers, options.documentUrl)
      : undefined;
  return {
    name,
    description: operation.description,
    method: operation.method,
    endpoint: own === undefined || own === baseUrl ? endpoint : own + endpoint,
    parameters: parameters.length > 0 ? parameters.map(inlined) : undefined,
    body,
    content_type: contentType !== undefined && contentType !== "application/json" ? contentType : undefined,
    tags: operation.tags.length > 0 ? operation.tags.slice(0, 8) : undefined,
  };
}

/** A parameter's schema written beside its name reads better; one with `required` or a reference stays apart. */
function inlined(parameter: Fields): Fields {
  const { schema, ...rest } = parameter;
  const fields = fieldsOf(schema);
  const clash =
    Object.keys(fields).some((key) => key in rest && key !== "description") || "required" in fields;
  const apart = clash || Object.keys(fields).some((key) => !INLINE.has(key));
  if (apart) return { ...rest, schema: fields };
  return { ...rest, ...fields, ...(rest.description !== undefined && { description: rest.description }) };
}

const INLINE: ReadonlySet<string> = new Set(
  "type description default enum format pattern minLength maxLength minimum maximum items".split(" "),
);

/** A `*` goes over slashes too, and the braces of a path are no choice. */
const PATTERN = { nocase: true, bash: true, nobrace: true };

function chooser(options: ImportOptions): (operation: Operation, name: string) => boolean {
  const { include, exclude, tags } = options;
  const wanted = include === undefined ? () => true : picomatch([...include], PATTERN);
  const unwanted = exclude === undefined ? () => false : picomatch([...exclude], PATTERN);
  return (operation, name) => {
    const spellings = [
      name,
      operation.operationId ?? name,
      `${operation.method} ${operation.path}`,
      operation.path,
    ];
    return (
      spellings.some((spelling) => wanted(spelling)) &&
      !spellings.some((spelling) => unwanted(spelling)) &&
      (tags === undefined || operation.tags.some((tag) => tags.includes(tag)))
    );
  };
}

function mostFrequent(auths: readonly (readonly AuthSection[])[]): readonly AuthSection[] {
  const counts = new Map<string, number>();
  for (const auth of auths) counts.set(JSON.stringify(auth), (counts.get(JSON.stringify(auth)) ?? 0) + 1);
  const [first] = [...counts].sort((left, right) => right[1] - left[1]);
  return first === undefined ? [] : (JSON.parse(first[0]) as readonly AuthSection[]);
}

const LONGEST = 64;

/** Letters, digits and `_`, not beginning with a digit. */
function slug(text: string): string {
  const plain = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** What a service is called when nobody says: from its title, without words that every title has. */
function serviceName(title: string): string {
  const words = slug(title)
    .toLowerCase()
    .split("_")
    .filter((word) => !/^(?:the|rest|api|apis|openapi|swagger|service|v\d+|\d+)$/.test(word));
  const name = words
    .filter((word) => word !== "")
    .slice(0, 3)
    .join("_")
    .slice(0, 24)
    .replace(/_+$/, "");
  if (name === "") return "service";
  return /^\d/.test(name) ? `api_${name}` : name;
}

interface Named {
  readonly operationId: string | undefined;
  readonly method: string;
  readonly path: string;
}

/**
 * One name per operation: `<service>_<operationId>`, or made from method and path. It depends on the operation
 * alone, or, where two would be called the same, on its method and path too; never on the order of the document.
 */
export function toolNames<Operation extends Named>(
  service: string,
  operations: readonly Operation[],
): ReadonlyMap<Operation, string> {
  const preferred = new Map(operations.map((operation) => [operation, preferredName(service, operation)]));
  const counts = new Map<string, number>();
  for (const name of preferred.values())
    counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return new Map(
    [...preferred].map(([operation, name]) => {
      const isAlone = counts.get(name.toLowerCase()) === 1;
      return [operation, isAlone ? name : marked(name, `${operation.method} ${operation.path}`)];
    }),
  );
}

function preferredName(service: string, { operationId, method, path }: Named): string {
  const own = operationId?.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "");
  const rest = own || `${method.toLowerCase()}_${slug(path.replaceAll(/[{}]/g, "")) || "root"}`;
  const name = `${service}_${rest}`;
  return name.length <= LONGEST ? name : marked(name, name);
}

/** A name that was cut or is taken ends with a hash of what makes it different. */
function marked(name: string, of: string): string {
  const hash = sha256(of).slice(0, 8);
  return `${name.slice(0, LONGEST - 9).replace(/_+$/, "")}_${hash}`;
}

/** The address of the first server that has a whole one; undefined when the document does not tell any. */
function serverUrl(servers: readonly unknown[], documentUrl: string | undefined): string | undefined {
  for (const server of servers) {
    const { url: template, variables } = fieldsOf(server);
    const url = textOf(template)?.replace(
      /\{([^{}]+)\}/g,
      (hole, name: string) => textOf(fieldsOf(fieldsOf(variables)[name]).default) ?? hole,
    );
    const address = url === undefined ? undefined : whole(url, documentUrl);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** Version 2: scheme, host and path, each with a place of its own. */
function hostUrl(document: Fields, documentUrl: string | undefined): string | undefined {
  const path = textOf(document.basePath) ?? "";
  const host = textOf(document.host);
  if (host === undefined) return documentUrl === undefined ? undefined : whole(path || "/", documentUrl);
  const schemes = listOf(document.schemes).map(String);
  const scheme = schemes.includes("https") || schemes.length === 0 ? "https" : schemes[0];
  return whole(`${scheme}://${host}${path}`, undefined);
}

function whole(url: string, base: string | undefined): string | undefined {
  if (/[{}]/.test(url) || !URL.canParse(url, base)) return undefined;
  const { protocol, href, search, hash } = new URL(url, base);
  // A path can only be put behind another path.
  const isBase = (protocol === "http:" || protocol === "https:") && search + hash === "";
  return isBase ? href.replace(/\/+$/, "") : undefined;
}
