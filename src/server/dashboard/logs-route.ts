import type { LogLevel } from "../../observe/log.js";
import { failure, HermesError } from "../../tool/errors.js";
import type { LogsAnswer } from "../dashboard-types.js";
import { maskedResponse } from "../problem.js";
import { numberFrom } from "../query.js";
import type { Route } from "../route.js";

const LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

export const logsRoute: Route = {
  method: "GET",
  path: "/v1/logs",
  summary: "The last lines of the server's own log, secrets masked. New ones come as the event `log.line`.",
  query: [
    {
      name: "level",
      description: "This one and graver ones.",
      schema: { type: "string", enum: LEVELS, default: "debug" },
    },
    {
      name: "limit",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 1000, default: 200 },
    },
    {
      name: "before",
      description: "Only those before this number.",
      schema: { type: "integer", minimum: 1 },
    },
  ],
  answer: {
    description: "Oldest first. `dropped`: earlier ones are kept no longer.",
    type: "application/json",
    schema: { type: "object", required: ["lines", "dropped"] },
  },

  handle(context, { runtime }) {
    const wanted = context.req.query("level") ?? "debug";
    const level = LEVELS.find((known) => known === wanted);
    if (level === undefined) {
      const hint = `There are: ${LEVELS.join(", ")}.`;
      throw new HermesError(failure("bad_request", `Unknown level: ${wanted.slice(0, 40)}`, hint));
    }
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 200, min: 1, max: 1000 }));
    const before =
      context.req.query("before") === undefined
        ? undefined
        : Math.trunc(numberFrom(context, { name: "before", fallback: 1, min: 1, max: 1e9 }));
    const { lines, dropped } = runtime.logLines.read({ level, limit, before });
    const first = lines.length === limit ? lines[0]?.seq : undefined;
    const answer: LogsAnswer = { lines, dropped, ...(first !== undefined && { next_before: first }) };
    // A secret may have become known after the line was written.
    return maskedResponse(answer, runtime.redact);
  },
};
