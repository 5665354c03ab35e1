import { jsonResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route } from "./route.js";

const DAY_MS = 86_400_000;

export const statsRoute: Route = {
  method: "GET",
  path: "/v1/stats",
  summary: "Calls, errors and times per tool.",
  query: [
    {
      name: "days",
      description: "How far to look back.",
      schema: { type: "number", minimum: 0.001, maximum: 36500, default: 30 },
    },
  ],
  answer: {
    description: "The same as `hermes stats --json`.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["days", "tools"],
      properties: { days: { type: "number" }, tools: { type: "array", items: { type: "object" } } },
    },
  },

  async handle(context, { runtime }) {
    const days = numberFrom(context, { name: "days", fallback: 30, min: 0.001, max: 36_500 });
    const journal = await runtime.journal();
    return jsonResponse({ days, tools: await journal.stats({ sinceMs: Date.now() - days * DAY_MS }) });
  },
};
