import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext, Kept } from "../../../tool/tool.js";
import type { AuthSection } from "../../../toolfile/openapi/security.js";
import type { HttpSpec } from "../../../toolfile/tool-spec.js";

/** A service as the operator registered it: `services.NAME`. */
export interface Service {
  readonly name: string;
  readonly openapi: string;
  readonly baseUrl: string | undefined;
  readonly auth: readonly AuthSection[] | undefined;
}

export interface ServiceOperation {
  /** The document's own name for it, or one made from method and path. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly spec: HttpSpec;
}

export interface OpenedService {
  readonly operations: readonly ServiceOperation[];
  readonly leftOut: readonly { readonly operation: string; readonly reason: string }[];
  /** Origins that the operator named, by `base_url` or as the address of the document. */
  readonly configured: readonly string[];
}

const KEPT_MS = 10 * 60_000;
/** What names of operations begin with while they are tools of a file. */
const PREFIX = "service";

export function servicesOf(settings: CallContext["settings"]): readonly Service[] {
  const { services } = settings;
  if (!isRecord(services)) return [];
  return Object.entries(services).flatMap(([name, value]) => {
    const fields = typeof value === "string" ? { openapi: value } : isRecord(value) ? value : {};
    const { openapi, base_url, auth } = fields as Readonly<Record<string, unknown>>;
    if (typeof openapi !== "string" || openapi === "") return [];
    const sections = Array.isArray(auth) ? auth : auth === undefined || auth === null ? undefined : [auth];
    return [
      {
        name,
        openapi,
        baseUrl: typeof base_url === "string" && base_url !== "" ? base_url : undefined,
        auth: sections as readonly AuthSection[] | undefined,
      },
    ];
  });
}

export function serviceNamed(name: string, ctx: CallContext): Service {
  const services = servicesOf(ctx.settings);
  const found = services.find((service) => service.name === name);
  if (found !== undefined) return found;
  const names = services.map((service) => service.name).join(", ");
  throw new ToolError(
    `There is no service ${JSON.stringify(name)}${names === "" ? ": none is registered" : ` (there are: ${names})`}.`,
    {
      code: "not_found",
      hint:
        names === ""
          ? "The operator registers one: hermes config set services.NAME.openapi FILE_OR_URL"
          : "Use one of these names.",
    },
  );
}

/** Descriptions of services that a session has read, for some minutes. */
export class OpenedServices implements Kept {
  readonly #known = new Map<string, { readonly at: number; readonly service: Promise<OpenedService> }>();

  open(service: Service, ctx: CallContext): Promise<OpenedService> {
    const key = JSON.stringify(service);
    const known = this.#known.get(key);
    if (known !== undefined && performance.now() - known.at < KEPT_MS) return known.service;
    const opened = openService(service, ctx);
    this.#known.set(key, { at: performance.now(), service: opened });
    opened.catch(() => this.#known.delete(key));
    return opened;
  }

  close(): void {
    this.#known.clear();
  }
}

async function openService(service: Service, ctx: CallContext): Promise<OpenedService> {
  const [{ parseDocument }, { importOpenApi }, { readToolFile }] = await Promise.all([
    import("../../../toolfile/openapi/document.js"),
    import("../../../toolfile/openapi/convert.js"),
    import("../../../toolfile/read-file.js"),
  ]);
  const { text, url } = await documentOf(service, ctx);
  const parsed = await parseDocument(text);
  if (!parsed.ok) throw unusable(service, parsed.problem.message);
  const imported = importOpenApi(parsed.document, {
    prefix: PREFIX,
    baseUrl: service.baseUrl,
    auth: service.auth,
    documentUrl: url,
  });
  if (!imported.ok) throw unusable(service, imported.message);
  const file = await readToolFile(
    JSON.stringify(
      service.auth === undefined ? withOwnVariables(imported.file, service.name) : imported.file,
    ),
  );
  if (!file.ok) throw unusable(service, file.problems[0]?.message ?? "it holds no operation");
  const specs = new Map(file.tools.map((tool) => [tool.name, tool]));
  const operations = imported.tools.flatMap(({ name, method, path }) => {
    const spec = specs.get(name);
    if (spec?.type !== "http_wrapper") return [];
    return [{ operation: name.slice(PREFIX.length + 1), method, path, spec }];
  });
  const named = [service.baseUrl, url].flatMap((address) =>
    address !== undefined && URL.canParse(address) ? [new URL(address).origin] : [],
  );
  return { operations, leftOut: imported.leftOut, configured: named };
}

/** Variables that nobody has named are called after the service. */
function withOwnVariables(file: object, name: string): unknown {
  const own = name.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
  const prefix = `${PREFIX.toUpperCase()}_`;
  return JSON.parse(JSON.stringify(file), (key, value: unknown) =>
    key.endsWith("_env") && typeof value === "string" && value.startsWith(prefix)
      ? `${/^\d/.test(own) ? "_" : ""}${own}_${value.slice(prefix.length)}`
      : value,
  );
}

async function documentOf(
  { name, openapi }: Service,
  ctx: CallContext,
): Promise<{ readonly text: string; readonly url: string | undefined }> {
  if (!/^https?:\/\//i.test(openapi)) {
    const home = typeof ctx.settings.hermes_home === "string" ? ctx.settings.hermes_home : homedir();
    const path = resolve(home, openapi.replace(/^~(?=\/|$)/, homedir()));
    try {
      return { text: await readFile(path, "utf8"), url: undefined };
    } catch {
      throw new ToolError(`The description of ${name} cannot be read: ${path}.`, {
        code: "unavailable",
        hint: `The operator corrects it: hermes config set services.${name}.openapi FILE_OR_URL`,
      });
    }
  }
  const { DOCUMENT_LIMITS } = await import("../../../toolfile/openapi/document.js");
  const response = await ctx.fetch({
    url: openapi,
    configured: true,
    headers: { accept: "application/json, application/yaml, */*;q=0.5" },
    timeoutMs: 60_000,
    maxBytes: DOCUMENT_LIMITS.maxBytes,
  });
  const text = await response.text();
  if (response.ok) return { text, url: response.url };
  throw new ToolError(`The description of ${name} could not be fetched: HTTP ${response.status}.`, {
    code: "unavailable",
    hint: "Try again later, or ask the operator to check services in the configuration.",
  });
}

function unusable({ name, openapi }: Service, why: string): ToolError {
  return new ToolError(`The description of ${name} (${openapi}) cannot be used: ${why}.`, {
    code: "unavailable",
    hint: `The operator corrects services.${name} in the configuration: openapi, base_url or auth.`,
  });
}
