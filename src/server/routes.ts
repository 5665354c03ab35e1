import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { VERSION } from "../version.js";
import { answerRoute, approvalsRoute } from "./approvals-route.js";
import { type Authenticator, unauthenticated } from "./auth.js";
import { budgetRoute } from "./budget-route.js";
import { callAgainRoute, callRoute } from "./call-routes.js";
import { callsRoute } from "./calls-route.js";
import { acceptChangesRoute, changesRoute } from "./changes-route.js";
import { chatCompletionsRoute, modelsRoute } from "./chat-routes.js";
import { webRoutes } from "./dashboard/page-routes.js";
import { dashboardRoutes } from "./dashboard/routes.js";
import { eventsRoute } from "./events-route.js";
import { hooksRoute } from "./hooks-route.js";
import { statsRoute } from "./journal-routes.js";
import { mcpRoutes } from "./mcp-route.js";
import { metricsRoute } from "./metrics-route.js";
import { describeRoutes } from "./openapi.js";
import { jsonResponse, type Problem, problemOfThrown, problemResponse } from "./problem.js";
import { processesRoute, processInputRoute, processKillRoute, processLogRoute } from "./process-routes.js";
import type { Route, RouteContext, ServerServices } from "./route.js";
import { scorecardsRoute } from "./scorecard-route.js";
import { HTML_TYPE, problemHtml, signInStyleRoute } from "./sign-in.js";
import { sourcesRoute } from "./sources-route.js";
import { toolCallsRoute } from "./tool-calls-route.js";
import { toolsRoute } from "./tools-route.js";

const healthRoute: Route = {
  method: "GET",
  path: "/healthz",
  open: true,
  summary: "Whether the server is up. It needs no token.",
  answer: {
    description: "It is up.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["ok", "version", "page_open"],
      properties: {
        ok: { const: true },
        version: { type: "string" },
        page_open: { type: "boolean", description: "Whether a browser shows the page." },
      },
    },
  },
  handle: (_context, { feed }) => jsonResponse({ ok: true, version: VERSION, page_open: feed.pages > 0 }),
};

const openapiRoute: Route = {
  method: "GET",
  path: "/openapi.json",
  summary: "This description.",
  answer: { description: "An OpenAPI 3.1 document.", type: "application/json", schema: { type: "object" } },
  handle: () => jsonResponse(describeRoutes(ROUTES)),
};

export const ROUTES: readonly Route[] = [
  chatCompletionsRoute,
  modelsRoute,
  budgetRoute,
  toolCallsRoute,
  toolsRoute,
  sourcesRoute,
  eventsRoute,
  approvalsRoute,
  answerRoute,
  changesRoute,
  acceptChangesRoute,
  processesRoute,
  processLogRoute,
  processInputRoute,
  processKillRoute,
  callsRoute,
  callRoute,
  callAgainRoute,
  statsRoute,
  scorecardsRoute,
  metricsRoute,
  ...dashboardRoutes,
  ...mcpRoutes,
  hooksRoute,
  healthRoute,
  openapiRoute,
  ...webRoutes,
  signInStyleRoute,
];

export type HermesApp = Hono<{ Bindings: HttpBindings }>;

/** Mounts the routes. Who is let in is decided where a route is mounted, not by comparing paths. */
export function mountRoutes(
  app: HermesApp,
  { services, auth }: { readonly services: ServerServices; readonly auth: Authenticator },
): void {
  const refusal = (context: RouteContext, approves = false): Response | undefined => {
    const { method = "GET", headers } = context.env.incoming;
    const problem = auth.refuse({ method, headers, approves });
    return problem === undefined ? undefined : answerProblem(context, problem);
  };

  app.get("/", async (context, next) => {
    const token = context.req.query("token");
    if (token === undefined) return next();
    if (!auth.isToken(token)) return answerProblem(context, unauthenticated("wrong"));
    // What stands behind # stays in the browser: the page keeps it for its own origin.
    const location = `/#answers=${auth.pageKey}`;
    return new Response(null, { status: 303, headers: { location, "set-cookie": auth.setCookie() } });
  });
  for (const route of ROUTES) {
    app.on(route.method, route.path, (context) => {
      const refused = route.open === true ? undefined : refusal(context, route.approves);
      return refused ?? route.handle(context, services);
    });
  }
  app.notFound((context) => refusal(context) ?? answerProblem(context, missing(context)));
  app.onError((thrown, context) => {
    const problem = problemOfThrown(thrown);
    if (problem.status === 500) {
      services.runtime.log.error(
        `${context.req.method} ${context.req.path} failed: ${thrown.stack ?? thrown.message}`,
      );
    }
    return answerProblem(context, problem);
  });
}

function missing(context: RouteContext): Problem {
  const { path, method } = context.req;
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  if (methods.length > 0) {
    return {
      status: 405,
      code: "method_not_allowed",
      message: `${path} does not take ${method}.`,
      hint: `Use ${methods.join(" or ")}.`,
      headers: { allow: methods.join(", ") },
    };
  }
  return {
    status: 404,
    code: "not_found",
    message: "There is nothing at this address.",
    hint: "GET /openapi.json lists what there is.",
  };
}

/** Browsers get a page to read, programs get JSON. */
function answerProblem(context: RouteContext, problem: Problem): Response {
  const wantsPage = /(?:^|,)\s*text\/html\b/i.test(context.req.header("accept") ?? "");
  if (!wantsPage) return problemResponse(problem);
  return new Response(problemHtml(problem), {
    status: problem.status,
    headers: { "content-type": HTML_TYPE, ...problem.headers },
  });
}
