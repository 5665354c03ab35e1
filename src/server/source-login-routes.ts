import { failure } from "../tool/errors.js";
import { readObject } from "./body.js";
import { badRequest, isProblem, jsonResponse, notFound, problemResponse } from "./problem.js";
import type { Route } from "./route.js";
import { nameFrom, SOURCE_PARAMETER } from "./sources-route.js";

const ANSWER = {
  description:
    "`waiting` with the page to open, `done`, or `failed` with why. The browser comes back to the machine of the server; " +
    "from another one the address it ends at is sent as `answer`.",
  type: "application/json",
  schema: { type: "object", required: ["login"] },
};

export const loginRoute: Route = {
  method: "POST",
  path: "/v1/sources/:id/login",
  approves: true,
  summary: "Begins a login at an MCP server, as `hermes mcp login`, or brings the answer of one.",
  query: [SOURCE_PARAMETER],
  requestSchema: {
    type: "object",
    properties: { answer: { type: "string", description: "The whole address the browser ended at." } },
    additionalProperties: false,
  },
  answer: ANSWER,
  problems: ["BadRequest", "NotFound"],

  async handle(context, { limits, logins }) {
    const body = await readObject(context, { limits, fields: ["answer"] });
    if (isProblem(body)) return problemResponse(body);
    const { answer } = body.given;
    if (answer !== undefined && typeof answer !== "string")
      return problemResponse(badRequest(failure("bad_request", "answer must be a text")));
    const name = nameFrom(context);
    const login = answer === undefined ? await logins.begin(name) : logins.answer(name, answer.trim());
    return isProblem(login) ? problemResponse(login) : jsonResponse(login);
  },
};

export const loginStateRoute: Route = {
  method: "GET",
  path: "/v1/sources/:id/login",
  summary: "How the login at an MCP server stands that was begun last.",
  query: [SOURCE_PARAMETER],
  answer: ANSWER,
  problems: ["NotFound"],

  handle(context, { logins }) {
    const login = logins.stateOf(nameFrom(context));
    if (login === undefined) return problemResponse(notFound("No login was begun here.", "POST begins one."));
    return jsonResponse(login);
  },
};
