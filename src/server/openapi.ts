import { ERROR_CODES } from "../tool/errors.js";
import { VERSION } from "../version.js";
import { HTTP_ERROR_CODES } from "./problem.js";
import type { Route } from "./route.js";

/** An OpenAPI 3.1 document made of the very list that is mounted. */
export function describeRoutes(routes: readonly Route[]): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Hermes Tools",
      version: VERSION,
      description: "Runs tools for AI agents. Host and Origin are checked on every request.",
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: "hermes_PORT",
          description:
            "Set for the page when it is opened with the token. Changing requests also need Origin.",
        },
      },
      schemas: { Error: ERROR_SCHEMA },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([name, description]) => [
          name,
          {
            description,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
    },
  };
}

const ERROR_SCHEMA = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", enum: [...ERROR_CODES, ...HTTP_ERROR_CODES] },
        message: { type: "string" },
        hint: { type: "string" },
      },
    },
  },
};

const ERRORS = {
  BadRequest: "The request as a whole cannot be carried out; nothing was run.",
  Unauthenticated: "The token is missing or wrong.",
  NotFound: "There is no such thing.",
  Conflict: "It is not, or no longer, in the state this request is about; nothing was changed.",
  Forbidden:
    "Wrong Host, wrong Origin, a changing request of the page without Origin, or a token without the right.",
  TimedOut: "The body did not come in time.",
  TooLarge: "The body is larger than 64 MiB.",
  Unsupported: "The body is compressed.",
  Busy: "Too many event clients, or the server is stopping.",
};

function operation(route: Route): Readonly<Record<string, unknown>> {
  const { answer, query, requestSchema } = route;
  const parameters = [...inPath(route), ...(query ?? []).map((each) => ({ in: "query", ...each }))];
  return {
    operationId: operationId(route),
    summary: route.summary,
    security: route.open === true ? [] : undefined,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody:
      requestSchema === undefined
        ? undefined
        : { required: true, content: { "application/json": { schema: requestSchema } } },
    responses: {
      [answer.status ?? 200]: {
        description: answer.description,
        content: { [answer.type]: answer.schema === undefined ? {} : { schema: answer.schema } },
      },
      303: route.path === "/" ? { description: "The token was right; the cookie is set." } : undefined,
      400: query === undefined ? undefined : ref("BadRequest"),
      401: route.open === true && route.signed !== true ? undefined : ref("Unauthenticated"),
      403: ref("Forbidden"),
      ...Object.fromEntries((route.problems ?? []).map((name) => [STATUS_OF[name], ref(name)])),
      ...(requestSchema !== undefined && {
        408: ref("TimedOut"),
        413: ref("TooLarge"),
        415: ref("Unsupported"),
      }),
      503: ref("Busy"),
    },
  };
}

/** What the path itself names, unless the route says more about it. */
function inPath({ path, query = [] }: Route): readonly Readonly<Record<string, unknown>>[] {
  return [...path.matchAll(/:(\w+)/g)]
    .map(([, name]) => name)
    .filter((name) => !query.some((each) => each.in === "path" && each.name === name))
    .map((name) => ({ in: "path", required: true, name, schema: { type: "string" } }));
}

const STATUS_OF = { BadRequest: 400, NotFound: 404, Conflict: 409 } as const;

function operationId(route: Route): string {
  const words = route.path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "" && word !== "v1");
  // The page has addresses that are spelled like those of the API.
  return [route.method.toLowerCase(), ...(route.answer.type === "text/html" ? ["page"] : []), ...words].join(
    "_",
  );
}

function ref(name: keyof typeof ERRORS): { readonly $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}
