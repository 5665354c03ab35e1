import type { ChangeRow } from "../../call/undo/change-rows.js";
import { changeTexts, listChanges, publicChange, undoChanges } from "../../runtime/undo.js";
import { failure } from "../../tool/errors.js";
import { readObject } from "../body.js";
import type { SessionChange, SessionChangesAnswer, UndoAnswer } from "../dashboard-types.js";
import { badRequest, isProblem, maskedResponse, type Problem, problemResponse } from "../problem.js";
import type { Route, RouteContext, ServerServices } from "../route.js";
import { conversationOf, ID_PARAMETER } from "./session-routes.js";

const MOST_CHANGES = 200;
const MAX_TEXT_BYTES = 128 * 1024;

export const sessionChangesRoute: Route = {
  method: "GET",
  path: "/v1/sessions/:id/changes",
  summary:
    "What calls of a conversation did to files: before and after, as far as both were kept and are text.",
  query: [{ ...ID_PARAMETER, description: "Of the conversation, or of a session of calls." }],
  answer: {
    description: "Newest first, also those that were undone.",
    type: "application/json",
    schema: { type: "object", required: ["changes"] },
  },
  problems: ["NotFound"],

  async handle(context, services) {
    const { runtime } = services;
    const rows = await changesOf(context, services);
    if (isProblem(rows)) return problemResponse(rows);
    const shown = rows.slice(0, MOST_CHANGES);
    const texts = await changeTexts(runtime, { rows: shown, maxBytes: MAX_TEXT_BYTES });
    const answer: SessionChangesAnswer = {
      changes: shown.map((row, index): SessionChange => {
        const { before, after, missing } = texts[index] ?? {};
        return { ...publicChange(row), before, now: after, diff_missing: missing };
      }),
    };
    return maskedResponse(answer, runtime.redact);
  },
};

export const sessionUndoRoute: Route = {
  method: "POST",
  path: "/v1/sessions/:id/undo",
  approves: true,
  summary:
    "Takes changes of files back, as `hermes undo`: as far as the files are still as the calls left them. All of the " +
    "conversation, or those that are named.",
  query: [{ ...ID_PARAMETER, description: "Of the conversation, or of a session of calls." }],
  requestSchema: {
    type: "object",
    properties: {
      changes: { type: "array", items: { type: "integer" } },
      dry_run: { type: "boolean", default: false },
    },
    additionalProperties: false,
  },
  answer: {
    description: "What became of each, and why some were left alone.",
    type: "application/json",
    schema: { type: "object", required: ["restored"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, services) {
    const { runtime, limits } = services;
    const body = await readObject(context, { limits, fields: ["changes", "dry_run"] });
    if (isProblem(body)) return problemResponse(body);
    const { changes, dry_run: dryRun = false } = body.given;
    if (!isNumbers(changes) || typeof dryRun !== "boolean")
      return problemResponse(
        badRequest(failure("bad_request", "changes must be a list of numbers, dry_run true or false")),
      );
    const rows = await changesOf(context, services);
    if (isProblem(rows)) return problemResponse(rows);
    const meant = rows.filter(
      ({ seq, undoneAt }) => undoneAt === undefined && (changes === undefined || changes.includes(seq)),
    );
    const answer: UndoAnswer = { restored: await undoChanges(runtime, { rows: meant, dryRun }) };
    return maskedResponse(answer, runtime.redact);
  },
};

function isNumbers(value: unknown): value is readonly number[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every(Number.isSafeInteger));
}

/** Newest first, with what subagents of the conversation changed; the owner may also name a session of calls. */
async function changesOf(
  context: RouteContext,
  services: ServerServices,
): Promise<readonly ChangeRow[] | Problem> {
  const { runtime, auth } = services;
  const found = await conversationOf(context, services);
  if (!isProblem(found)) return listChanges(runtime, { conversation: found.conversation.id, all: true });
  if (auth.principalOf(context.env.incoming.headers) !== "owner") return found;
  const rows = await listChanges(runtime, { session: context.req.param("id") ?? "", all: true });
  return rows.length === 0 ? found : rows;
}
