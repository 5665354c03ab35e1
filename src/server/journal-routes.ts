import { jsonResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route } from "./route.js";

const DAY_MS = 86_400_000;

export const callsRoute: Route = {
  method: "GET",
  path: "/v1/calls",
  summary: "The last calls of every Hermes process of this home, newest first, with secrets masked.",
  query: [
    {
      name: "limit",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 1000, default: 50 },
    },
  ],
  answer: {
    description: "`journal` is false when calls are not recorded.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["journal", "calls"],
      properties: { journal: { type: "boolean" }, calls: { type: "array", items: { type: "object" } } },
    },
  },

  async handle(context, { runtime }) {
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 50, min: 1, max: 1000 }));
    const journal = await runtime.journal();
    // Which process wrote a row concerns only the journal itself.
    const calls = (await journal.recent({ limit })).map(({ owner: _owner, ...call }) => call);
    return jsonResponse({ journal: journal.enabled, calls });
  },
};

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
