import { scorecards } from "../observe/scorecard.js";
import type { ScorecardsAnswer } from "./dashboard-types.js";
import { maskedResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route } from "./route.js";

const DAY_MS = 86_400_000;
/** Fewer than the command reads: all of them are taken apart while others wait for an answer. */
const MOST_CALLS = 5_000;

export const scorecardsRoute: Route = {
  method: "GET",
  path: "/v1/scorecards",
  summary:
    "How each model gets along with each tool, and what a better description could prevent, as `hermes stats scorecard`.",
  query: [
    {
      name: "days",
      description: "How far to look back.",
      schema: { type: "number", minimum: 0.001, maximum: 36500, default: 30 },
    },
    { name: "tool", description: "Only this one.", schema: { type: "string" } },
  ],
  answer: {
    description: `The most trouble first, from the last ${MOST_CALLS.toLocaleString("en")} calls.`,
    type: "application/json",
    schema: { type: "object", required: ["days", "cards"] },
  },

  async handle(context, { runtime }) {
    const days = numberFrom(context, { name: "days", fallback: 30, min: 0.001, max: 36_500 });
    const tool = context.req.query("tool");
    const journal = await runtime.journal();
    const rows = await journal.recent({
      limit: MOST_CALLS,
      sinceMs: Date.now() - days * DAY_MS,
      ...(tool !== undefined && { tool }),
    });
    const answer: ScorecardsAnswer = { days, cards: scorecards(rows) };
    return maskedResponse(answer, runtime.redact);
  },
};
