import { isRecord } from "../base/record.js";
import { failure } from "../tool/errors.js";
import { readBody } from "./body.js";
import { badRequest, isProblem, jsonResponse, problemResponse } from "./problem.js";
import type { Route } from "./route.js";

const CHANGES_SCHEMA = {
  type: "object",
  required: ["changes"],
  properties: {
    changes: {
      type: "array",
      items: {
        type: "object",
        required: ["path", "hash"],
        properties: {
          path: { type: "string" },
          hash: { type: "string", description: "Of its content: the yes counts for what was shown." },
        },
      },
    },
  },
} as const;
const MAX_BODY_BYTES = 2 ** 20;

export const changesRoute: Route = {
  method: "GET",
  path: "/v1/changes",
  summary: "Settings and code of tools that have changed while the server runs and wait for a person's yes.",
  answer: { description: "What waits.", type: "application/json", schema: CHANGES_SCHEMA },
  handle: (_context, { runtime }) => jsonResponse({ changes: runtime.changes?.held ?? [] }),
};

export const acceptChangesRoute: Route = {
  method: "POST",
  path: "/v1/changes",
  approves: true,
  summary:
    "Takes up changes that wait. Needs the server's own token. What has changed again since goes on waiting.",
  requestSchema: CHANGES_SCHEMA,
  answer: { description: "What was taken up.", type: "application/json", schema: CHANGES_SCHEMA },
  problems: ["BadRequest"],

  async handle(context, { runtime, limits }) {
    const body = await readBody(context.env.incoming, { ...limits, bodyBytes: MAX_BODY_BYTES });
    if (isProblem(body)) return problemResponse(body);
    let given: unknown;
    try {
      given = JSON.parse(body.toString("utf8"));
    } catch {
      given = undefined;
    }
    if (!isRecord(given) || !Array.isArray(given.changes))
      return problemResponse(
        badRequest(failure("bad_request", "The body must be an object with a list of changes.")),
      );
    const shown = given.changes.flatMap((each: unknown) =>
      isRecord(each) && typeof each.path === "string" && typeof each.hash === "string"
        ? [{ path: each.path, hash: each.hash }]
        : [],
    );
    return jsonResponse({ changes: (await runtime.changes?.accept(shown)) ?? [] });
  },
};
