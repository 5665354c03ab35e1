import { readBody } from "./body.js";
import { isProblem, problemResponse } from "./problem.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

const MESSAGE_SCHEMA = {
  type: "object",
  required: ["jsonrpc", "method"],
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "integer"] },
    method: { type: "string" },
    params: { type: "object" },
  },
} as const;

const SUMMARY = "Model Context Protocol over Streamable HTTP, revisions 2025-11-25 and 2026-07-28";

/** The MCP endpoint; the protocol itself is in `mcp/`. */
export const mcpRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/mcp",
    summary: `${SUMMARY}: one JSON-RPC message.`,
    requestSchema: MESSAGE_SCHEMA,
    answer: {
      description: "One JSON-RPC response, or a stream of messages that ends with it (text/event-stream).",
      type: "application/json",
      schema: { type: "object" },
    },
    problems: ["BadRequest", "NotFound"],
    async handle(context, services) {
      const body = await readBody(context.env.incoming, services.limits);
      if (isProblem(body)) return problemResponse(body);
      const message = parse(body);
      return message === undefined ? notJson() : answer(context, services, message);
    },
  },
  {
    method: "GET",
    path: "/mcp",
    summary: `${SUMMARY}: what the server has to say to a client with an Mcp-Session-Id.`,
    answer: { description: "One JSON-RPC message per event.", type: "text/event-stream" },
    problems: ["BadRequest", "NotFound"],
    handle: (context, services) => answer(context, services),
  },
  {
    method: "DELETE",
    path: "/mcp",
    summary: `${SUMMARY}: ends the session of the Mcp-Session-Id header.`,
    answer: { description: "It has ended.", type: "application/json" },
    problems: ["BadRequest", "NotFound"],
    handle: (context, services) => answer(context, services),
  },
];

function answer(context: RouteContext, services: ServerServices, body?: unknown): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const { method, url, headers, signal } = context.req.raw;
  return services.mcp.handle({
    request: new Request(url, { method, headers, signal }),
    body,
    principal: services.auth.principalOf(incoming.headers),
    outgoing,
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function notJson(): Response {
  const error = { code: -32_700, message: "Parse error: the body is not JSON" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 400 });
}
