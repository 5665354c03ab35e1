import { didYouMean } from "../../config/did-you-mean.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import type { ReadBody } from "../network/response-body.js";
import { shownResponse } from "../network/shown-response.js";
import {
  type OpenedService,
  OpenedServices,
  type Service,
  type ServiceOperation,
  serviceNamed,
  servicesOf,
} from "./api/services.js";

const MAX_LISTED = 300;
const LIST = "list";
const EVERY = "*";

interface ServiceList {
  readonly services: readonly {
    readonly name: string;
    readonly openapi: string;
    readonly base_url?: string | undefined;
  }[];
}

interface OperationList {
  readonly service: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly method: string;
    readonly path: string;
    readonly description: string;
    readonly signature: string;
  }[];
  readonly total_operations: number;
  readonly left_out?: OpenedService["leftOut"] | undefined;
  readonly truncated: boolean;
}

interface ApiAnswer extends ReadBody {
  readonly service: string;
  readonly operation: string;
  readonly status: number;
  readonly status_text: string;
  readonly ok: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly elapsed_ms: number;
  readonly url: string;
  readonly redirected: boolean;
}

export type ApiOutput = ServiceList | OperationList | ApiAnswer;

export default defineTool({
  name: "api_call",
  toolset: "services",
  emoji: "🧩",
  description:
    'Call an operation of a service that the operator registered; operation "list" tells its operations and their ' +
    'params, service "*" with "list" the services.',
  parameters: {
    type: "object",
    properties: {
      service: { type: "string", minLength: 1, maxLength: 100 },
      operation: { type: "string", minLength: 1, maxLength: 300, description: "Name, or METHOD /path" },
      params: { type: "object", additionalProperties: true, default: {} },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 300, default: 30 },
    },
    required: ["service", "operation"],
    additionalProperties: false,
  },
  permissions: ["network:fetch", "network:write"],
  effects: ({ service, operation }) => [
    operation === LIST
      ? { action: "network:fetch", resource: `api:${service}`, mode: "read" }
      : { action: "network:write", resource: `api:${service}/${operation}`, mode: "write" },
  ],
  timeoutMs: ({ timeout_seconds }) => timeout_seconds * 1000 + 65_000,

  dynamicSchemaOverrides(view) {
    const names = servicesOf(view.settings ?? {}).map(({ name }) => name);
    if (names.length === 0) return {};
    return {
      description: `Call an operation of a registered service (${names.slice(0, 20).join(", ")}); operation "list" tells its operations and their params.`,
    };
  },

  async handler(args, ctx): Promise<ApiOutput> {
    if (args.operation === LIST && args.service === EVERY) {
      return {
        services: servicesOf(ctx.settings).map(({ name, openapi, baseUrl }) => ({
          name,
          openapi: openapi.replace(/\/\/[^/@]*@/, "//").replace(/\?.*$/, ""),
          base_url: baseUrl,
        })),
      };
    }
    const service = serviceNamed(args.service, ctx);
    const opened = await ctx.keep(OpenedServices).open(service, ctx);
    if (args.operation === LIST) return list(service, opened);
    const found = operationNamed(args.operation, { service, opened });
    return request({ service, opened, found, args, ctx });
  },

  // What operations are for, the service's own description says.
  untrustedSource: (_args, out) =>
    "url" in out ? out.url : "operations" in out ? `api:${out.service}` : undefined,

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Which services there are",
      arguments: { service: "*", operation: "list" },
      result: { services: [] },
    },
  ],
});

async function list(service: Service, { operations, leftOut }: OpenedService): Promise<OperationList> {
  const { describeSignature } = await import("../../tool/decode.js");
  return {
    service: service.name,
    operations: operations.slice(0, MAX_LISTED).map(({ operation, method, path, spec }) => ({
      operation,
      method,
      path,
      description: spec.description.slice(0, 200),
      signature: describeSignature(operation, spec.schema),
    })),
    total_operations: operations.length,
    ...(leftOut.length > 0 && { left_out: leftOut.slice(0, 50) }),
    truncated: operations.length > MAX_LISTED,
  };
}

/** By its name, or by method and path; a spelling that only differs in case will do when it is the only one. */
function operationNamed(
  wanted: string,
  { service, opened }: { readonly service: Service; readonly opened: OpenedService },
): ServiceOperation {
  const spellings = ({ operation, method, path }: ServiceOperation) => [operation, `${method} ${path}`];
  const exact = opened.operations.find((one) => spellings(one).includes(wanted));
  if (exact !== undefined) return exact;
  const plain = (word: string) => word.replace(/[^A-Za-z0-9{}/]+/g, "").toLowerCase();
  const near = opened.operations.filter((one) =>
    spellings(one).some((word) => plain(word) === plain(wanted)),
  );
  const [only] = near;
  if (only !== undefined && near.length === 1) return only;
  const names = opened.operations.map(({ operation }) => operation);
  const left = opened.leftOut.find(({ operation }) => plain(operation) === plain(wanted));
  throw new ToolError(
    left === undefined
      ? `${service.name} has no operation ${JSON.stringify(wanted)}.`
      : `${service.name}: ${wanted} cannot be called: ${left.reason}.`,
    {
      code: "not_found",
      hint: didYouMean(wanted, names) ?? `Ask with operation "${LIST}" what there is.`,
    },
  );
}

async function request(call: {
  readonly service: Service;
  readonly opened: OpenedService;
  readonly found: ServiceOperation;
  readonly args: { readonly params: Readonly<Record<string, unknown>>; readonly timeout_seconds: number };
  readonly ctx: CallContext;
}): Promise<ApiAnswer> {
  const { service, opened, found, args, ctx } = call;
  const { spec } = found;
  const [{ createDecoder }, { addressOf, messageOf, refineFor }, credentials, body] = await Promise.all([
    import("../../tool/decode.js"),
    import("../../toolfile/http-message.js"),
    import("../../toolfile/credentials.js"),
    import("../network/response-body.js"),
  ]);
  const decoded = createDecoder({ name: found.operation, parameters: spec.schema, foreign: true }).decode(
    args.params,
  );
  if (!decoded.ok)
    throw new ToolError(decoded.failure.message, { code: "invalid_arguments", hint: decoded.failure.hint });
  const refined = refineFor(spec)(decoded.args);
  if (!refined.ok) {
    const [issue] = refined.issues;
    throw new ToolError(`params${issue?.path ?? ""}: ${issue?.message ?? "cannot be sent"}.`, {
      code: "invalid_arguments",
    });
  }
  const address = addressOf(spec, decoded.args);
  const message = messageOf(spec, decoded.args);
  const proof = credentials.credentialsOf(spec.auth, {
    // A user name is no secret, and still comes from a variable.
    variable: (name) => ctx.secrets.get(name) ?? process.env[name],
    checkFor: () => () => true,
  });
  const clean = (value: string) => credentials.withoutSecrets(value, proof.secrets);
  const headers = { ...message.headers, ...proof.headers };
  const accepts = Object.keys(headers).some((name) => name.toLowerCase() === "accept");
  const started = performance.now();
  try {
    const response = await ctx.fetch({
      url: credentials.withQuery(address, proof.query),
      method: spec.method,
      headers: accepts ? headers : { ...headers, accept: "application/json, */*;q=0.5" },
      body: message.body,
      timeoutMs: args.timeout_seconds * 1000,
      maxBytes: body.MAX_BODY_BYTES,
      overflow: "cut",
      configured: opened.configured.includes(new URL(address).origin),
      hints: { timeout: "Raise timeout_seconds (up to 300), or ask for less." },
    });
    return {
      service: service.name,
      operation: found.operation,
      status: response.status,
      status_text: response.statusText,
      ok: response.ok,
      headers: body.plainHeaders(response.headers),
      ...(await body.readBody(response, ctx.cacheDir)),
      elapsed_ms: Math.round(performance.now() - started),
      url: response.redirects.length > 0 ? clean(response.url) : address,
      redirected: response.redirects.length > 0,
    };
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    throw new ToolError(clean(error.message), { code: error.code, hint: error.hint && clean(error.hint) });
  }
}

function humanText(out: ApiOutput): string {
  if ("services" in out)
    return out.services.length === 0
      ? mark.dim("no service is registered")
      : columns(out.services.map(({ name, openapi }) => [mark.strong(name), mark.path(openapi)]));
  if ("operations" in out) {
    const rows = out.operations.map(({ operation, method, path, description }) => [
      mark.strong(operation),
      method,
      mark.path(path),
      description.slice(0, 60),
    ]);
    return [columns(rows), out.truncated ? mark.dim(`${rows.length} of ${out.total_operations}`) : ""]
      .filter((line) => line !== "")
      .join("\n");
  }
  return shownResponse(out);
}
