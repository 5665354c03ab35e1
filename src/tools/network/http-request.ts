import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { ReadBody } from "./response-body.js";
import { shownResponse } from "./shown-response.js";

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
    const { readBody, plainHeaders, MAX_BODY_BYTES } = await import("./response-body.js");
    const started = performance.now();
    const response = await ctx.fetch({
      url,
      method,
      headers: typeof args.body === "object" && body !== undefined ? asJson(args.headers) : args.headers,
      body,
      timeoutMs: timeout_seconds * 1000,
      maxBytes: MAX_BODY_BYTES,
      overflow: "cut",
      followRedirects: args.follow_redirects,
      hints: { timeout: "Raise timeout_seconds (up to 300), or ask for less." },
    });
    return {
      status: response.status,
      status_text: response.statusText,
      ok: response.ok,
      headers: plainHeaders(response.headers),
      ...(await readBody(response, ctx.cacheDir)),
      elapsed_ms: Math.round(performance.now() - started),
      url: response.url,
      redirected: response.redirects.length > 0,
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({ model: [text(JSON.stringify(out))], human: shownResponse(out) }),
});

function asJson(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return typed ? headers : { ...headers, "content-type": "application/json" };
}

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
