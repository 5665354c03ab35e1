import { ownCommand } from "../base/own-command.js";
import { quoteForShell } from "../base/quote.js";
import { isRecord } from "../base/record.js";
import type { Journal, JournalRow } from "../call/journal.js";
import { publicRecord } from "../policy/approvals/record.js";
import { explainDecision } from "../runtime/explain.js";
import { briefCall, publicCall } from "./calls-route.js";
import { pageClient, runFromPage } from "./dashboard/tool-routes.js";
import { plainTrace } from "./dashboard/trace.js";
import type { ApprovalAnswer, BriefCall, CallAnswer, WholeCall } from "./dashboard-types.js";
import { isProblem, maskedResponse, notFound, type Problem, problemResponse } from "./problem.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

const MOST_CHILDREN = 200;
/** What masking leaves behind where a secret stood. */
const MASKED = /\[REDACTED(?::[^\]]*)?\]/;

const ID_PARAMETER = {
  in: "path",
  required: true,
  name: "id",
  description: "Its number in the journal, or the id of the call.",
  schema: { type: "string" },
} as const;

/** Ids of calls repeat. */
const WITHIN_PARAMETERS = (["conversation", "session"] as const).map((name) => ({
  name,
  description: `Of several calls with this id, the newest of this ${name}.`,
  schema: { type: "string" },
}));

export const callRoute: Route = {
  method: "GET",
  path: "/v1/calls/:id",
  summary:
    "One call with its arguments, effects, result, the calls it made, and what the rules of today say of it.",
  query: [ID_PARAMETER, ...WITHIN_PARAMETERS],
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
  query: [ID_PARAMETER, ...WITHIN_PARAMETERS],
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
  const row = /^\d{1,15}$/.test(id)
    ? await journal.call(Number(id))
    : await journal.call(id, {
        conversation: context.req.query("conversation"),
        sessionId: context.req.query("session"),
      });
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
