import { connectionFailure } from "../../net/connection-failure.js";
import { requestHeaders } from "../../net/request-headers.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import type { ReadBody } from "./response-body.js";

export interface HttpOutput extends ReadBody {
  /** The HTTP status code. */
  readonly status: number;
  readonly status_text: string;
  readonly ok: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly elapsed_ms: number;
  /** Where the response came from. */
  readonly url: string;
  readonly redirected: boolean;
}

export default defineTool({
  name: "http_request",
  toolset: "http",
  emoji: "📡",
  description:
    "Send an HTTP request; returns status, headers and body, or body_path when that is large or binary. Private " +
    "addresses are usually refused.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", format: "uri" },
      method: { type: "string", enum: ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"], default: "GET" },
      headers: { type: "object", additionalProperties: { type: "string" } },
      body: { type: ["string", "object", "null"], description: "An object is sent as JSON." },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 300, default: 30 },
      follow_redirects: { type: "boolean", default: true },
    },
    required: ["url"],
  },
  examples: [
    {
      title: "Ask a service for JSON",
      pages: { "/health": '{"status":"up"}' },
      arguments: { url: "{server}/health" },
      result: { status: 200, ok: true, body: '{"status":"up"}' },
    },
  ],
  permissions: ["network:fetch", "network:write"],
  effects: ({ url, method }) => [effectOf(url, method)],
  timeoutMs: ({ timeout_seconds }) => timeout_seconds * 1000 + 5_000,

  async handler(args, ctx): Promise<HttpOutput> {
    const { url, method, timeout_seconds } = args;
    const body = requestBody(method, args.body);
    const headers = requestHeaders(args.headers ?? {}, typeof args.body === "object" && body !== undefined);
    const [{ guardedFetch }, { networkRulesFrom }, { readBody }] = await Promise.all([
      import("../../net/guarded-fetch.js"),
      import("../../net/network-rules.js"),
      import("./response-body.js"),
    ]);
    const started = performance.now();
    const deadline = AbortSignal.timeout(timeout_seconds * 1000);
    try {
      const answer = await guardedFetch({
        url,
        method,
        headers,
        body,
        signal: AbortSignal.any([ctx.signal, deadline]),
        followRedirects: args.follow_redirects,
        rules: networkRulesFrom(ctx.settings),
        refusal: (next) => ctx.refusal(effectOf(next, method)),
      });
      try {
        const { response } = answer;
        return {
          status: response.status,
          status_text: response.statusText,
          ok: response.ok,
          headers: headersOf(response.headers),
          ...(await readBody(response, ctx.cacheDir)),
          elapsed_ms: Math.round(performance.now() - started),
          url: answer.url,
          redirected: answer.redirects.length > 0,
        };
      } finally {
        await answer.close();
      }
    } catch (error) {
      throw whatWentWrong(error, { url, ctx, deadline, timeout_seconds });
    }
  },
});

function effectOf(url: string, method: string): Effect {
  return method === "GET" || method === "HEAD"
    ? { action: "network:fetch", resource: url, mode: "read" }
    : { action: "network:write", resource: url, mode: "write" };
}

function requestBody(method: string, body: string | object | null | undefined): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (method === "GET" || method === "HEAD") {
    throw new ToolError(`A ${method} request cannot carry a body.`, {
      code: "invalid_arguments",
      hint: "Put the data into the query of the URL, or use POST.",
    });
  }
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Only cookies may come several times; everything else has been joined with commas. */
function headersOf(headers: {
  forEach(each: (value: string, name: string) => void): void;
  getSetCookie(): string[];
}) {
  const found: Record<string, string | readonly string[]> = Object.create(null);
  headers.forEach((value, name) => {
    found[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  });
  return { ...found };
}

function whatWentWrong(
  error: unknown,
  call: { url: string; ctx: CallContext; deadline: AbortSignal; timeout_seconds: number },
): unknown {
  if (ToolError.isInstance(error)) return error;
  if (call.ctx.signal.aborted) return new ToolError("The request was cancelled.", { code: "cancelled" });
  if (call.deadline.aborted) {
    return new ToolError(`No complete answer from ${call.url} within ${call.timeout_seconds} s.`, {
      code: "timeout",
      hint: "Raise timeout_seconds (up to 300), or ask for less.",
    });
  }
  return connectionFailure(error, call.url);
}
