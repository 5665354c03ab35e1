import { configuredBudget, raiseBudget } from "../agent/raise-budget.js";
import { isRecord } from "../base/record.js";
import { failure } from "../tool/errors.js";
import { readBody } from "./body.js";
import { badRequest, isProblem, jsonResponse, problemResponse } from "./problem.js";
import type { Route } from "./route.js";

export const budgetRoute: Route = {
  method: "POST",
  path: "/v1/budget",
  approves: true,
  summary:
    "Raises what a conversation, or all of today, may cost. Needs the server's own token. Whatever program works on it " +
    "finds it before its next request.",
  requestSchema: {
    type: "object",
    required: ["usd"],
    properties: {
      session: { type: "string", description: "The conversation; left out, it is the budget of the day." },
      usd: { type: "number", exclusiveMinimum: 0, description: "All that may be spent, in US dollars." },
    },
  },
  answer: {
    description: "As it is now.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["spent_usd", "budget_usd"],
      properties: { spent_usd: { type: "number" }, budget_usd: { type: ["number", "null"] } },
    },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, { runtime, agents, limits }) {
    const body = await readBody(context.env.incoming, limits);
    if (isProblem(body)) return problemResponse(body);
    let given: unknown;
    try {
      given = JSON.parse(body.toString("utf8"));
    } catch {
      given = undefined;
    }
    if (!isRecord(given) || typeof given.usd !== "number" || !isText(given.session))
      return problemResponse(badRequest(failure("bad_request", "The body must be {session, usd}.")));
    const of = given.session === undefined ? { dayOf: Date.now() } : { session: given.session };
    const store = await agents.conversations();
    if (given.session !== undefined && (await store.get(given.session)) === undefined)
      return problemResponse({
        status: 404,
        ...failure("not_found", `There is no conversation ${given.session}`),
      });
    const parts = { store, budget: configuredBudget(runtime.config), of };
    const state = await raiseBudget(parts, given.usd);
    return "code" in state ? problemResponse(badRequest(state)) : jsonResponse(state);
  },
};

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
