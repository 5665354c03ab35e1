import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { AnyTool, CallContext } from "../../tool/tool.js";
import { credentialsOf, withoutSecrets, withQuery } from "../../toolfile/credentials.js";
import { addressOf, messageOf, refineFor } from "../../toolfile/http-message.js";
import { variablesOf } from "../../toolfile/read-auth.js";
import type { Values } from "../../toolfile/template.js";
import type { ToolHost } from "../../toolfile/tool-host.js";
import type { HttpSpec } from "../../toolfile/tool-spec.js";
import { resultOf } from "./http-answer.js";
import { send } from "./http-send.js";

/** Time for the last answer to be read and told after the tool's own limit. */
const MARGIN_MS = 5_000;

type HttpParts = Pick<
  AnyTool,
  | "permissions"
  | "effects"
  | "refine"
  | "requiresEnv"
  | "checkFn"
  | "idempotent"
  | "timeoutMs"
  | "untrustedSource"
  | "handler"
>;

export function httpTool(spec: HttpSpec, host: ToolHost): HttpParts {
  const variables = [...new Set(variablesOf(spec.auth))];
  return {
    permissions: [readsOnly(spec) ? "network:fetch" : "network:write"],
    effects: (args: Values) => [effectOf(spec, addressOf(spec, args))],
    refine: refineFor(spec),
    ...(variables.length > 0 && { requiresEnv: variables, checkFn: host.checkFor(variables) }),
    idempotent: readsOnly(spec) || undefined,
    timeoutMs: spec.timeoutSeconds * 1000 + MARGIN_MS,
    untrustedSource: () => spec.endpoint.origin,
    handler: (args: Values, ctx: CallContext) => request({ spec, args, ctx, host }),
  };
}

function readsOnly({ method }: HttpSpec): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

function effectOf(spec: HttpSpec, url: string): Effect {
  return readsOnly(spec)
    ? { action: "network:fetch", resource: url, mode: "read" }
    : { action: "network:write", resource: url, mode: "write" };
}

interface Exchange {
  readonly spec: HttpSpec;
  readonly args: Values;
  readonly ctx: CallContext;
  readonly host: ToolHost;
}

async function request({ spec, args, ctx, host }: Exchange): Promise<unknown> {
  const address = addressOf(spec, args);
  const message = messageOf(spec, args);
  const credentials = credentialsOf(spec.auth, host);
  const headers = { ...message.headers, ...credentials.headers };
  const accepts = Object.keys(headers).some((name) => name.toLowerCase() === "accept");
  const limitMs = spec.timeoutSeconds * 1000;
  try {
    const answer = await send({
      fetch: ctx.fetch,
      signal: ctx.signal,
      request: {
        url: withQuery(address, credentials.query),
        method: spec.method,
        headers: accepts ? headers : { ...headers, accept: "application/json, */*;q=0.5" },
        body: message.body,
        maxBytes: spec.response.maxBytes,
        followRedirects: spec.followRedirects,
        hints: {
          timeout: "Ask for less, or raise timeout_seconds in the tool's file.",
          tooLarge: "Ask for less (a filter, a smaller page), or raise max_bytes in the tool's file.",
        },
      },
      method: spec.method,
      retries: spec.retries,
      endsAt: performance.now() + limitMs,
      onRetry: (said) => ctx.progress({ message: said }),
    });
    return await resultOf(answer, { response: spec.response, cacheDir: ctx.cacheDir });
  } catch (error) {
    throw masked(error, credentials.secrets);
  }
}

/** Errors may quote the address or what the service said, and either may repeat a credential. */
function masked(error: unknown, secrets: readonly string[]): unknown {
  if (!ToolError.isInstance(error) || secrets.length === 0) return error;
  const { message, hint, details } = error;
  const clean = (text: string) => withoutSecrets(text, secrets);
  return new ToolError(clean(message), {
    code: error.code,
    hint: hint && clean(hint),
    details:
      details &&
      Object.fromEntries(
        Object.entries(details).map(([name, value]) => [
          name,
          typeof value === "string" ? clean(value) : value,
        ]),
      ),
  });
}
