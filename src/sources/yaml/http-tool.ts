import { connectionFailure } from "../../net/connection-failure.js";
import { networkRulesFrom } from "../../net/network-rules.js";
import { requestHeaders } from "../../net/request-headers.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { AnyTool, CallContext } from "../../tool/tool.js";
import { credentialsOf, withoutSecrets, withQuery } from "./credentials.js";
import { resultOf } from "./http-answer.js";
import { addressOf, messageOf, refineFor } from "./http-message.js";
import { send } from "./http-send.js";
import { variablesOf } from "./read-auth.js";
import type { Values } from "./template.js";
import type { ToolHost } from "./tool-host.js";
import type { HttpSpec } from "./tool-spec.js";

/** Time for the last answer to be read and told after the tool's own limit. */
const MARGIN_MS = 5_000;

type HttpParts = Pick<
  AnyTool,
  "permissions" | "effects" | "refine" | "requiresEnv" | "checkFn" | "idempotent" | "timeoutMs" | "handler"
>;

export function httpTool(spec: HttpSpec, host: ToolHost): HttpParts {
  const variables = [...new Set(variablesOf(spec.auth))];
  return {
    permissions: [readsOnly(spec) ? "network:fetch" : "network:write"],
    effects: (args: Values) => [effectOf(spec, addressOf(spec, args))],
    refine: refineFor(spec),
    ...(variables.length > 0 && { requiresEnv: variables, checkFn: host.checkFor(variables) }),
    ...(readsOnly(spec) && { idempotent: true }),
    timeoutMs: spec.timeoutSeconds * 1000 + MARGIN_MS,
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
  const headers = requestHeaders({ ...message.headers, ...credentials.headers }, false);
  const limitMs = spec.timeoutSeconds * 1000;
  const deadline = AbortSignal.timeout(limitMs);
  try {
    const sent = send({
      request: {
        url: withQuery(address, credentials.query),
        method: spec.method,
        headers:
          headers.accept === undefined ? { ...headers, accept: "application/json, */*;q=0.5" } : headers,
        body: message.body,
        signal: AbortSignal.any([ctx.signal, deadline]),
        followRedirects: spec.followRedirects,
        rules: networkRulesFrom(ctx.settings),
        refusal: (next) => ctx.refusal(effectOf(spec, next)),
      },
      method: spec.method,
      retries: spec.retries,
      maxBytes: spec.response.maxBytes,
      endsAt: performance.now() + limitMs,
      onRetry: (said) => ctx.progress({ message: said }),
    });
    const answer = await sent.catch((error) => {
      throw whatWentWrong(error, { spec, address, ctx, deadline });
    });
    return await resultOf(answer, { response: spec.response, cacheDir: ctx.cacheDir });
  } catch (error) {
    throw masked(error, credentials.secrets);
  }
}

function whatWentWrong(
  error: unknown,
  call: {
    readonly spec: HttpSpec;
    readonly address: string;
    readonly ctx: CallContext;
    readonly deadline: AbortSignal;
  },
): unknown {
  if (ToolError.isInstance(error)) return error;
  if (call.ctx.signal.aborted) return new ToolError("The request was cancelled.", { code: "cancelled" });
  if (call.deadline.aborted)
    return new ToolError(`No complete answer from ${call.address} within ${call.spec.timeoutSeconds} s.`, {
      code: "timeout",
      hint: "Ask for less, or raise timeout_seconds in the tool's file.",
    });
  return connectionFailure(error, call.address);
}

/** Errors may quote the address or what the service said, and either may repeat a credential. */
function masked(error: unknown, secrets: readonly string[]): unknown {
  if (!ToolError.isInstance(error) || secrets.length === 0) return error;
  const { message, hint, details } = error;
  const clean = (text: string) => withoutSecrets(text, secrets);
  return new ToolError(clean(message), {
    code: error.code,
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(details !== undefined && {
      details: Object.fromEntries(
        Object.entries(details).map(([name, value]) => [
          name,
          typeof value === "string" ? clean(value) : value,
        ]),
      ),
    }),
  });
}
