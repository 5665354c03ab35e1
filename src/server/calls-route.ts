import type { JournalRow, RecentQuery } from "../call/journal.js";
import { failure, HermesError } from "../tool/errors.js";
import type { BriefCall, CallsAnswer } from "./dashboard-types.js";
import { jsonResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route, RouteContext } from "./route.js";

const PREVIEW_CHARS = 200;

const FILTERS = [
  {
    name: "status",
    key: "status",
    about: "ok, error, denied, blocked, timeout, cancelled, running or unknown.",
  },
  { name: "tool", key: "tool", about: "Name of the tool." },
  { name: "session", key: "sessionId", about: "Id of the session." },
  { name: "conversation", key: "conversation", about: "Id of the conversation it was made in." },
  { name: "door", key: "door", about: "Where it came in: cli, http, mcp …" },
  { name: "environment", key: "environment", about: "Where it ran." },
  { name: "rule", key: "rule", about: "The rule that decided." },
  { name: "q", key: "text", about: "Part of the tool's name or of the arguments." },
] as const;
const MAX_FILTER_CHARS = 200;
const STATUSES = [
  "ok",
  "error",
  "blocked",
  "denied",
  "timeout",
  "cancelled",
  "running",
  "unknown",
] as const satisfies readonly JournalRow["status"][];

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
    {
      name: "before",
      description: "Only those before this number.",
      schema: { type: "integer", minimum: 1 },
    },
    {
      name: "brief",
      description: "1 leaves arguments, effects and results out: a line for a list.",
      schema: { type: "string", enum: ["1"] },
    },
    { name: "status", description: "How it ended.", schema: { type: "string", enum: STATUSES } },
    ...FILTERS.map(({ name, about }) => ({
      name,
      description: about,
      schema: { type: "string", maxLength: MAX_FILTER_CHARS },
    })),
  ],
  answer: {
    description: "`journal` is false when calls are not recorded; `next_before` leads to the next page.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["journal", "calls"],
      properties: {
        journal: { type: "boolean" },
        calls: { type: "array", items: { type: "object" } },
        next_before: { type: "integer" },
      },
    },
  },

  async handle(context, { runtime }) {
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 50, min: 1, max: 1000 }));
    const journal = await runtime.journal();
    const rows = await journal.recent({ limit, ...filtersFrom(context) });
    const last = rows.length === limit ? rows.at(-1)?.seq : undefined;
    const answer: CallsAnswer<unknown> = {
      journal: journal.enabled,
      calls: context.req.query("brief") === "1" ? rows.map(briefCall) : rows.map(publicCall),
      ...(last !== undefined && { next_before: last }),
    };
    return jsonResponse(answer);
  },
};

function filtersFrom(context: RouteContext): Omit<RecentQuery, "limit"> {
  const texts = FILTERS.flatMap(({ name, key }) => {
    const text = context.req.query(name);
    return text === undefined || text === "" ? [] : [[key, text.slice(0, MAX_FILTER_CHARS)]];
  });
  const wanted = context.req.query("status");
  const status = STATUSES.find((known) => known === wanted);
  if (wanted !== undefined && wanted !== "" && status === undefined) {
    const hint = `There are: ${STATUSES.join(", ")}.`;
    throw new HermesError(failure("bad_request", `Unknown status: ${wanted.slice(0, 40)}`, hint));
  }
  const before =
    context.req.query("before") === undefined
      ? undefined
      : Math.trunc(numberFrom(context, { name: "before", fallback: 1, min: 1, max: 1e9 }));
  return {
    ...Object.fromEntries(texts),
    ...(status !== undefined && { status }),
    ...(before !== undefined && { before }),
  };
}

/** Which process wrote a row concerns only the journal itself. */
export function publicCall({ owner: _owner, ...call }: JournalRow): Omit<JournalRow, "owner"> {
  return call;
}

/** A line of a list: nothing in it can be long. */
export function briefCall(row: JournalRow): BriefCall {
  return {
    seq: row.seq,
    call_id: row.call_id,
    session_id: row.session_id,
    conversation: row.conversation,
    tool: row.tool,
    toolset: row.toolset,
    door: row.door,
    environment: row.environment,
    worker: row.worker,
    status: row.status,
    state: row.state,
    error_code: row.error_code,
    error_message: row.error_message?.slice(0, PREVIEW_CHARS),
    duration_ms: row.duration_ms,
    approval_wait_ms: row.approval_wait_ms,
    queued_ms: row.queued_ms,
    started_at: row.started_at,
    parent: row.parent,
    decision: row.decision,
    rule: row.rule,
    model: row.model,
    preview: row.args.slice(0, PREVIEW_CHARS),
    result_chars: row.result_chars,
  };
}
