import { ownCommand } from "../base/own-command.js";
import { quoteForShell } from "../base/quote.js";
import { isRecord } from "../base/record.js";
import type { Journal, JournalRow, RecentQuery } from "../call/journal.js";
import { publicRecord } from "../policy/approvals/record.js";
import { explainDecision } from "../runtime/explain.js";
import { failure, HermesError } from "../tool/errors.js";
import { pageClient, runFromPage } from "./dashboard/tool-routes.js";
import { plainTrace } from "./dashboard/trace.js";
import type { ApprovalAnswer, BriefCall, CallAnswer, CallsAnswer, WholeCall } from "./dashboard-types.js";
import {
  isProblem,
  jsonResponse,
  maskedResponse,
  notFound,
  type Problem,
  problemResponse,
} from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

const PREVIEW_CHARS = 200;
const MOST_CHILDREN = 200;
/** What masking leaves behind where a secret stood. */
const MASKED = /\[REDACTED(?::[^\]]*)?\]/;

const FILTERS = [
  {
    name: "status",
    key: "status",
    about: "ok, error, denied, blocked, timeout, cancelled, running or unknown.",
  },
  { name: "tool", key: "tool", about: "Name of the tool." },
  { name: "session", key: "sessionId", about: "Id of the session." },
  { name: "door", key: "door", about: "Where it came in: cli, http, mcp …" },
  { name: "environment", key: "environment", about: "Where it ran." },
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
function publicCall({ owner: _owner, ...call }: JournalRow): Omit<JournalRow, "owner"> {
  return call;
}

/** A line of a list: nothing in it can be long. */
export function briefCall(row: JournalRow): BriefCall {
  return {
    seq: row.seq,
    call_id: row.call_id,
    session_id: row.session_id,
    tool: row.tool,
    toolset: row.toolset,
    door: row.door,
    environment: row.environment,
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

const ID_PARAMETER = {
  in: "path",
  required: true,
  name: "id",
  description: "Its number in the journal, or the id of the call.",
  schema: { type: "string" },
} as const;

export const callRoute: Route = {
  method: "GET",
  path: "/v1/calls/:id",
  summary:
    "One call with its arguments, effects, result, the calls it made, and what the rules of today say of it.",
  query: [ID_PARAMETER],
  answer: {
    description: "`result` is absent where it was not kept.",
    type: "application/json",
    schema: { type: "object", required: ["call", "children", "trace", "trace_of", "command"] },
  },
  problems: ["NotFound"],

  async handle(context, services) {
    const { runtime } = services;
    const journal = await runtime.journal();
    const row = await rowOf(context, journal);
    if (isProblem(row)) return problemResponse(row);
    const [result, children, traced, approval] = await Promise.all([
      resultOf(journal, row),
      childrenOf(journal, row),
      traceOf(context, services, row),
      approvalOf(runtime, row),
    ]);
    const answer: CallAnswer = {
      call: wholeCall(row),
      result,
      children,
      ...traced,
      trace_of: "now",
      approval,
      command: `${ownCommand()} call ${quoteForShell(row.tool)} ${quoteForShell(row.args)}`,
    };
    return maskedResponse(answer, runtime.redact);
  },
};

export const callAgainRoute: Route = {
  method: "POST",
  path: "/v1/calls/:id/again",
  approves: true,
  summary: "Runs a recorded call once more, in the session of the page, judged like any other.",
  query: [ID_PARAMETER],
  answer: {
    description: "The result of the call, also of one that failed.",
    type: "application/json",
    schema: { type: "object", required: ["result"] },
  },
  problems: ["NotFound", "Conflict"],

  async handle(context, services) {
    const row = await rowOf(context, await services.runtime.journal());
    if (isProblem(row)) return problemResponse(row);
    const given = argumentsOf(row);
    if (given === undefined) {
      return problemResponse({
        status: 409,
        code: "conflict",
        message: "The journal holds only a part of its arguments, or a secret in them was masked.",
        hint: `Run ${row.tool} with the arguments filled in.`,
      });
    }
    return runFromPage(context, services, { name: row.tool, arguments: given });
  },
};

async function rowOf(context: RouteContext, journal: Journal): Promise<JournalRow | Problem> {
  const id = context.req.param("id") ?? "";
  const row = await journal.call(/^\d{1,15}$/.test(id) ? Number(id) : id);
  return row ?? notFound(`No call ${id.slice(0, 80)} is recorded.`, "GET /v1/calls lists them.");
}

async function resultOf(journal: Journal, row: JournalRow): Promise<CallAnswer["result"]> {
  if (row.result_hash === undefined || row.result_hash === "") return undefined;
  const text = await journal.result(row.result_hash, row.seq);
  return text === undefined ? undefined : { text, complete: text.length >= (row.result_chars ?? 0) };
}

async function childrenOf(journal: Journal, row: JournalRow): Promise<readonly BriefCall[]> {
  const made = await journal.recent({
    limit: MOST_CHILDREN,
    parent: row.call_id,
    sinceMs: row.started_at,
  });
  // Ids of calls repeat from session to session.
  return made
    .filter(({ parent_session: session }) => session === row.session_id)
    .map(briefCall)
    .reverse();
}

async function traceOf(
  context: RouteContext,
  { sessions, auth }: ServerServices,
  row: JournalRow,
): Promise<Pick<CallAnswer, "trace" | "trace_missing">> {
  const given = argumentsOf(row);
  if (given === undefined)
    return { trace: [], trace_missing: "The journal does not hold all of its arguments." };
  const { value } = await sessions.use(pageClient(context, auth), (session) =>
    explainDecision(session, { name: row.tool, arguments: given }),
  );
  return "code" in value
    ? { trace: [], trace_missing: value.message }
    : { trace: value.trace.map(plainTrace) };
}

async function approvalOf(
  runtime: ServerServices["runtime"],
  row: JournalRow,
): Promise<ApprovalAnswer | undefined> {
  if (row.approval === undefined) return undefined;
  const store = await runtime.approvals.store();
  const record = store.find(row.approval);
  if (record === undefined) return undefined;
  return publicRecord(record, { ownerAlive: store.isOwnerAlive(record) });
}

/** Undefined unless they are exactly what was called with. */
function argumentsOf(row: JournalRow): Readonly<Record<string, unknown>> | undefined {
  if (row.args_bytes !== undefined || row.damaged === true || MASKED.test(row.args)) return undefined;
  const parsed = parsedOr(row.args, undefined);
  return isRecord(parsed) ? parsed : undefined;
}

function wholeCall(row: JournalRow): WholeCall {
  const { args, effects, ...rest } = publicCall(row);
  const parsed = parsedOr(effects, effects);
  return {
    ...rest,
    args: row.args_bytes === undefined ? parsedOr(args, args) : args,
    effects: Array.isArray(parsed) ? parsed : effects,
  };
}

function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
