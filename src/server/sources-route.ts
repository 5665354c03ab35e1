import { isRecord } from "../base/record.js";
import type { McpSource } from "../sources/mcp/source.js";
import { type DefinitionDrift, sourceStatus } from "../sources/mcp/status.js";
import { failure } from "../tool/errors.js";
import { readObject } from "./body.js";
import type { Drift, SourceAccepted, SourceReconnected, SourcesAnswer } from "./dashboard-types.js";
import { badRequest, isProblem, maskedResponse, notFound, type Problem, problemResponse } from "./problem.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

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
    const mcp = mcpOf(runtime);
    const answer: SourcesAnswer = {
      sources: runtime.sources.status(),
      mcp_servers: (mcp?.servers() ?? []).map((server) => ({
        ...server,
        drift: (mcp?.drift(server.name) ?? []).map(shownDrift),
      })),
    };
    return maskedResponse(answer, runtime.redact);
  },
};

export const SOURCE_PARAMETER = {
  in: "path",
  required: true,
  name: "id",
  description: "`mcp:NAME`, as GET /v1/sources names it.",
  schema: { type: "string" },
} as const;

export const reconnectRoute: Route = {
  method: "POST",
  path: "/v1/sources/:id/reconnect",
  approves: true,
  summary: "Connects to an MCP server anew, whatever its state.",
  query: [SOURCE_PARAMETER],
  answer: {
    description: "How it is doing when that has worked or failed.",
    type: "application/json",
    schema: { type: "object", required: ["source"] },
  },
  problems: ["NotFound"],

  async handle(context, { runtime }) {
    const name = nameFrom(context);
    const status = await mcpOf(runtime)?.reconnect(name);
    if (status === undefined) return problemResponse(unknownServer(name));
    const answer: SourceReconnected = { source: sourceStatus(status) };
    return maskedResponse(answer, runtime.redact);
  },
};

export const acceptDriftRoute: Route = {
  method: "POST",
  path: "/v1/sources/:id/accept",
  approves: true,
  summary:
    "Agrees to changed definitions of an MCP server as they were shown, as `hermes mcp approve`. What has changed once " +
    "more since is not agreed to.",
  query: [SOURCE_PARAMETER],
  requestSchema: {
    type: "object",
    required: ["changes"],
    properties: {
      changes: {
        type: "array",
        items: {
          type: "object",
          required: ["tool", "fingerprint"],
          properties: { tool: { type: "string" }, fingerprint: { type: "string" } },
        },
      },
    },
    additionalProperties: false,
  },
  answer: {
    description: "Which tools it was about, and which have changed again.",
    type: "application/json",
    schema: { type: "object", required: ["accepted", "missed"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, limits }) {
    const body = await readObject(context, { limits, fields: ["changes"] });
    if (isProblem(body)) return problemResponse(body);
    const { changes } = body.given;
    if (!Array.isArray(changes) || !changes.every(isShown))
      return problemResponse(
        badRequest(
          failure("bad_request", "changes must be a list of {tool, fingerprint} as they were shown"),
        ),
      );
    const name = nameFrom(context);
    const mcp = mcpOf(runtime);
    if (mcp === undefined || !mcp.servers().some((server) => server.name === name))
      return problemResponse(unknownServer(name));
    const isAccepted = (tool: string, fingerprint: string) =>
      mcp.approveChange(name, { tool, fingerprint, change: "" })?.length === 1;
    const [accepted, missed]: [string[], string[]] = [[], []];
    for (const { tool, fingerprint } of changes)
      (isAccepted(tool, fingerprint) ? accepted : missed).push(tool);
    const answer: SourceAccepted = { accepted, missed };
    return maskedResponse(answer, runtime.redact);
  },
};

const LONGEST_SHOWN = 64 * 1024;

function shownDrift({ before, now, ...change }: DefinitionDrift): Drift {
  const isShort = JSON.stringify([before, now]).length <= LONGEST_SHOWN;
  return isShort ? { ...change, before: { ...before }, now: { ...now } } : change;
}

function isShown(value: unknown): value is { readonly tool: string; readonly fingerprint: string } {
  return isRecord(value) && typeof value.tool === "string" && typeof value.fingerprint === "string";
}

function mcpOf(runtime: ServerServices["runtime"]): McpSource | undefined {
  return runtime.sources.get("mcp") as McpSource | undefined;
}

export function nameFrom(context: RouteContext): string {
  return (context.req.param("id") ?? "").replace(/^mcp:/, "");
}

function unknownServer(name: string): Problem {
  return notFound(`No MCP server is called ${name.slice(0, 80)}.`, "GET /v1/sources lists them.");
}
