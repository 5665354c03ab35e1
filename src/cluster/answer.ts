import type { ApprovalReply } from "../call/scope.js";
import type { Dispatch } from "./dispatch.js";
import type { NodeAnswer, ToNode } from "./messages.js";

type Question = Extract<ToNode, { kind: "approve" | "ask" }>;

/** A question that came up on a worker, put to the person of the session; nobody is there once the call is over. */
export async function answerFor(question: Question, dispatch: Dispatch | undefined): Promise<NodeAnswer> {
  if (question.kind === "ask") {
    const reply = await dispatch?.call.scope.ask(question.question);
    return { kind: "ask", reply };
  }
  return { kind: "approve", reply: dispatch === undefined ? "nobody" : await approval(question, dispatch) };
}

async function approval(
  { request }: Extract<Question, { kind: "approve" }>,
  { call, context }: Dispatch,
): Promise<ApprovalReply | "nobody"> {
  const { approver, info, door, services } = call.scope;
  if (approver === undefined || (await approver.isThere?.()) === false) return "nobody";
  const asked = { ...request, session: info, door };
  // The time in which a person thinks is not the call's.
  context.wait(true);
  try {
    const given = await approver.ask(asked, context.signal);
    const reply: ApprovalReply = typeof given === "string" ? { answer: given } : given;
    if (reply.answer !== "always") return reply;
    // What holds for good is written down where the person is; the worker takes it for this session.
    const entries = reply.widen === true ? request.sessionKeys : request.remember;
    if (entries.length > 0) await services.permanentGrants?.remember(entries, asked);
    return { ...reply, answer: "session" };
  } finally {
    context.wait(false);
  }
}
