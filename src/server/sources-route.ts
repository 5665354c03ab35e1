import type { McpSource } from "../sources/mcp/source.js";
import { jsonResponse } from "./problem.js";
import type { Route } from "./route.js";

const LEFT_OUT_SCHEMA = {
  type: "array",
  items: {
    type: "object",
    required: ["name", "reason"],
    properties: { name: { type: "string" }, reason: { type: "string" } },
  },
};

const SOURCE_SCHEMA = {
  type: "object",
  required: ["source", "state", "tools", "quarantined"],
  properties: {
    source: { type: "string", description: "`mcp:github`, `yaml:/path/file.yaml`, `plugin:weather`." },
    state: {
      type: "string",
      enum: ["configured", "connecting", "ready", "degraded", "failed", "parked", "disabled"],
    },
    tools: { type: "array", items: { type: "string" } },
    reason: { type: "string" },
    fix: { type: "string" },
    next_retry: { type: "integer", description: "Milliseconds since 1970." },
    quarantined: LEFT_OUT_SCHEMA,
  },
};

export const sourcesRoute: Route = {
  method: "GET",
  path: "/v1/sources",
  summary:
    "What brings tools in from outside and how it is doing: MCP servers, plugins, YAML files, modules.",
  answer: {
    description: "One entry for each; MCP servers again with all that is known of them.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["sources", "mcp_servers"],
      properties: {
        sources: { type: "array", items: SOURCE_SCHEMA },
        mcp_servers: { type: "array", items: { type: "object" } },
      },
    },
  },

  handle(_context, { runtime }) {
    const mcp = runtime.sources.get("mcp") as McpSource | undefined;
    const answer = { sources: runtime.sources.status(), mcp_servers: mcp?.servers() ?? [] };
    return jsonResponse(JSON.parse(runtime.redact(JSON.stringify(answer))));
  },
};
