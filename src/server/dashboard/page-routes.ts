import { type Problem, problemResponse } from "../problem.js";
import type { Route } from "../route.js";

/** Every address a person can be at; the script of the page tells them apart. */
const PAGES = [
  "/live",
  "/approvals",
  "/chat",
  "/chat/:session",
  "/tools",
  "/tools/:name",
  "/stats",
  "/sources",
  "/processes",
  "/sessions",
  "/sessions/:id",
  "/cron",
  "/permissions",
  "/logs",
  "/doctor",
  "/settings",
];

const NOT_BUILT: Problem = {
  status: 503,
  code: "unavailable",
  message: "The page has not been built.",
  hint: "Run `npm run build` in the folder of the program; the API works without it.",
};

const showPage: Route["handle"] = async (_context, { web }) => {
  const file = await web.index();
  if (file === undefined) return problemResponse(NOT_BUILT);
  return new Response(new Uint8Array(file.body), { headers: { "content-type": file.type } });
};

/** The start: Live. */
const pageRoute: Route = {
  method: "GET",
  path: "/",
  summary: "The page for people. With ?token= it sets the page's cookie and leads back to / without it.",
  query: [{ name: "token", description: "The server's token, once.", schema: { type: "string" } }],
  answer: { description: "The page.", type: "text/html" },
  handle: showPage,
};

const pageAddresses = PAGES.map(
  (path): Route => ({
    method: "GET",
    path,
    summary: "An address of the page.",
    answer: { description: "The page.", type: "text/html" },
    handle: showPage,
  }),
);

const assetRoute: Route = {
  method: "GET",
  path: "/assets/:file",
  summary: "Part of the page. Its name changes with its content, so browsers keep it.",
  query: [
    {
      in: "path",
      required: true,
      name: "file",
      description: "As the page names it.",
      schema: { type: "string" },
    },
  ],
  answer: { description: "A file, compressed where the client takes that.", type: "*/*" },
  problems: ["NotFound"],

  async handle(context, { web }) {
    const file = await web.asset(
      context.req.param("file") ?? "",
      context.req.header("accept-encoding") ?? "",
    );
    if (file === undefined) {
      return problemResponse({
        status: 404,
        code: "not_found",
        message: "The page has no such part.",
        hint: "Load the page anew: it may be another version by now.",
      });
    }
    return new Response(new Uint8Array(file.body), {
      headers: {
        "content-type": file.type,
        "cache-control": "private, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(file.encoding !== undefined && { "content-encoding": file.encoding }),
      },
    });
  },
};

export const webRoutes: readonly Route[] = [pageRoute, ...pageAddresses, assetRoute];
