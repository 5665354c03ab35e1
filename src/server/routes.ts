import { VERSION } from "../version.js";
import { answerRoute, approvalsRoute } from "./approvals-route.js";
import { eventsRoute } from "./events-route.js";
import { callsRoute, statsRoute } from "./journal-routes.js";
import { mcpRoutes } from "./mcp-route.js";
import { describeRoutes } from "./openapi.js";
import { pageAssetRoutes, pageRoute } from "./page-routes.js";
import { jsonResponse } from "./problem.js";
import { processesRoute, processInputRoute, processKillRoute, processLogRoute } from "./process-routes.js";
import type { Route } from "./route.js";
import { sourcesRoute } from "./sources-route.js";
import { toolCallsRoute } from "./tool-calls-route.js";
import { toolsRoute } from "./tools-route.js";

const healthRoute: Route = {
  method: "GET",
  path: "/healthz",
  open: true,
  summary: "Whether the server is up. The only address that needs no token.",
  answer: {
    description: "It is up.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["ok", "version"],
      properties: { ok: { const: true }, version: { type: "string" } },
    },
  },
  handle: () => jsonResponse({ ok: true, version: VERSION }),
};

const openapiRoute: Route = {
  method: "GET",
  path: "/openapi.json",
  summary: "This description.",
  answer: { description: "An OpenAPI 3.1 document.", type: "application/json", schema: { type: "object" } },
  handle: () => jsonResponse(describeRoutes(ROUTES)),
};

export const ROUTES: readonly Route[] = [
  toolCallsRoute,
  toolsRoute,
  sourcesRoute,
  eventsRoute,
  approvalsRoute,
  answerRoute,
  processesRoute,
  processLogRoute,
  processInputRoute,
  processKillRoute,
  callsRoute,
  statsRoute,
  ...mcpRoutes,
  healthRoute,
  openapiRoute,
  pageRoute,
  ...pageAssetRoutes,
];
