import { isRecord } from "../base/record.js";
import type { ApprovalAnswer } from "../call/scope.js";
import { publicRecord } from "../policy/approvals/record.js";
import { isRefused, type RefusalReason, type Refused } from "../policy/approvals/refusal.js";
import type { GivenAnswer } from "../policy/approvals/store.js";
import { failure } from "../tool/errors.js";
import { readBody } from "./body.js";
import { badRequest, isProblem, jsonResponse, type Problem, problemResponse } from "./problem.js";
import type { Route } from "./route.js";

/** An answer is a few short texts. */
const MAX_ANSWER_BYTES = 2 ** 20;
const MAX_REASON_CHARS = 1_000;
const ANSWERS = ["once", "session", "always", "deny"] as const satisfies readonly ApprovalAnswer[];

const APPROVAL_SCHEMA = {
  type: "object",
  required: ["id", "hash", "tool", "status", "what", "reason", "expires_at", "signature"],
  properties: {
    id: { type: "string" },
    hash: { type: "string", description: "Of tool, arguments, environment and folder: what is approved." },
    tool: { type: "string" },
    status: { type: "string", enum: ["pending", "approved", "denied", "expired", "consumed"] },
    what: { type: "string", description: "The gist on one line." },
    reason: { type: "string" },
    expires_at: { type: "integer", description: "Milliseconds since 1970; no answer by then is a denial." },
    owner_alive: { type: "boolean", description: "Whether the process that asked still waits." },
    signature: { type: "string" },
  },
};

export const approvalsRoute: Route = {
  method: "GET",
  path: "/v1/approvals",
  summary: "Questions of every Hermes process of this home that wait for an answer, with secrets masked.",
  query: [
    {
      name: "all",
      description: "1 lists settled ones too.",
      schema: { type: "string", enum: ["1"] },
    },
  ],
  answer: {
    description: "Newest first.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["approvals"],
      properties: { approvals: { type: "array", items: APPROVAL_SCHEMA } },
    },
  },

  async handle(context, { runtime }) {
    const store = await runtime.approvals.store();
    const all = context.req.query("all") === "1";
    const listed = store.list({ all }).filter((record) => all || record.status === "pending");
    return jsonResponse({
      approvals: listed.map((record) => publicRecord(record, { ownerAlive: store.isOwnerAlive(record) })),
    });
  },
};

export const answerRoute: Route = {
  method: "POST",
  path: "/v1/approvals",
  approves: true,
  summary:
    "Answers a question. Needs the server's own token: the token for calls may not approve. An answer that " +
    "comes too late, twice, or with another hash changes nothing.",
  requestSchema: {
    type: "object",
    required: ["id", "hash", "answer"],
    properties: {
      id: { type: "string" },
      hash: { type: "string", description: "As the question showed it." },
      answer: { type: "string", enum: ANSWERS },
      reason: { type: "string", maxLength: MAX_REASON_CHARS, description: "With deny: told to the model." },
      widen: {
        type: "boolean",
        description: "With always: remember the kind of danger, not this one command.",
      },
      signature: { type: "string", description: "As the question showed it; checked when given." },
    },
    additionalProperties: false,
  },
  answer: { description: "The record as it is now.", type: "application/json", schema: APPROVAL_SCHEMA },
  problems: ["BadRequest", "NotFound", "Conflict"],

  async handle(context, { runtime, limits }) {
    const body = await readBody(context.env.incoming, { ...limits, bodyBytes: MAX_ANSWER_BYTES });
    if (isProblem(body)) return problemResponse(body);
    const given = answerFrom(body);
    if ("code" in given) return problemResponse(given);
    const store = await runtime.approvals.store();
    const answered = await store.answer(given);
    if (isRefused(answered)) return problemResponse(problemOf(answered));
    return jsonResponse(publicRecord(answered, { ownerAlive: store.isOwnerAlive(answered) }));
  },
};

const STATUS: Readonly<Record<RefusalReason, number>> = {
  unknown_id: 404,
  wrong_person: 403,
  wrong_hash: 409,
  wrong_signature: 409,
  already_answered: 409,
  not_approved: 409,
  expired: 409,
  no_room: 507,
};

function problemOf({ refused, message, hint }: Refused): Problem {
  const status = STATUS[refused];
  const code = status === 404 ? "not_found" : status === 403 ? "forbidden" : "conflict";
  return { status, code, message, hint };
}

/** Who answers is known from the token, never from the body. */
function answerFrom(body: Buffer): GivenAnswer | Problem {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return unreadable("The body is not JSON");
  }
  if (!isRecord(parsed)) {
    return unreadable("The body must be an object");
  }
  const { id, hash, answer, reason, widen, signature, ...rest } = parsed as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return unreadable(`Unknown field: ${unknown.slice(0, 40)}`);
  const known = ANSWERS.find((one) => one === answer);
  if (typeof id !== "string" || typeof hash !== "string") return unreadable("id and hash must be strings");
  if (known === undefined) return unreadable(`answer must be one of ${ANSWERS.join(", ")}`);
  if (!isText(reason, MAX_REASON_CHARS) || !isText(signature, 200)) {
    return unreadable(`reason and signature must be strings of at most ${MAX_REASON_CHARS} characters`);
  }
  if (widen !== undefined && typeof widen !== "boolean") return unreadable("widen must be true or false");
  return {
    id,
    hash,
    answer: known,
    by: "http",
    reason,
    signature,
    widen,
  };
}

function isText(value: unknown, longest: number): value is string | undefined {
  return value === undefined || (typeof value === "string" && value.length <= longest);
}

function unreadable(message: string): Problem {
  return badRequest(
    failure("bad_request", message, 'Send {"id", "hash", "answer"} as the question showed them.'),
  );
}
