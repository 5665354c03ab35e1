import { DIMENSIONS, type Dimension } from "../call/stats/stats.js";
import { failure, HermesError } from "../tool/errors.js";
import { jsonResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import { filterFrom, readStats, sinceFrom } from "./read-stats.js";
import type { Route, RouteContext } from "./route.js";

const DAY_MS = 86_400_000;

export const statsRoute: Route = {
  method: "GET",
  path: "/v1/stats",
  summary:
    "Calls by status, errors by code, exact percentiles, waits, tokens and cost, per tool and over time.",
  query: [
    {
      name: "days",
      description: "How far to look back.",
      schema: { type: "number", minimum: 0.001, maximum: 36500, default: 30 },
    },
    {
      name: "since",
      description: "Instead of `days`: how long ago (`15m`, `1h`, `7d`), a date, or milliseconds since 1970.",
      schema: { type: "string" },
    },
    {
      name: "until",
      description: "Up to then, written like `since`; now when left out.",
      schema: { type: "string" },
    },
    {
      name: "by",
      description: "Also counts by this, as `groups`.",
      schema: { type: "string", enum: DIMENSIONS },
    },
    ...DIMENSIONS.map((name) => ({
      name,
      description: `Only calls of this ${name}.`,
      schema: { type: "string" },
    })),
  ],
  answer: {
    description: "The same as `hermes stats --json`; `series` has 60 to 120 points for a chart.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["since", "days", "total", "tools", "models", "series"],
      properties: {
        journal: { type: "boolean" },
        since: { type: "number" },
        days: { type: "number" },
        total: { type: "object" },
        tools: { type: "array", items: { type: "object" } },
        models: { type: "array", items: { type: "object" } },
        only: { type: "object" },
        by: { type: "string" },
        groups: { type: "array", items: { type: "object" } },
        series: { type: "array", items: { type: "object" } },
      },
    },
  },

  async handle(context, { runtime }) {
    const days = numberFrom(context, { name: "days", fallback: 30, min: 0.001, max: 36_500 });
    const named = context.req.query("since");
    const since = named === undefined ? Date.now() - days * DAY_MS : sinceFrom(named);
    const end = context.req.query("until");
    const until = end === undefined ? undefined : sinceFrom(end);
    const stats = await readStats(runtime, {
      since,
      until,
      by: dimensionFrom(context),
      only: filterFrom((name) => context.req.query(name)),
      series: true,
    });
    return jsonResponse(named === undefined ? { ...stats, days } : stats);
  },
};

function dimensionFrom(context: RouteContext): Dimension | undefined {
  const text = context.req.query("by");
  if (text === undefined) return undefined;
  const dimension = DIMENSIONS.find((name) => name === text);
  if (dimension !== undefined) return dimension;
  throw new HermesError(
    failure(
      "bad_request",
      "?by= knows only what calls are counted by",
      `Choose one of: ${DIMENSIONS.join(", ")}.`,
    ),
  );
}
