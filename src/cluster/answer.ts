import type { ApprovalReply } from "../call/scope.js";
import type { Logger } from "../observe/log.js";
import { describeThrown } from "../tool/thrown.js";
import type { Dispatch } from "./dispatch.js";
import type { NodeAnswer, ToNode } from "./messages.js";

type Question = Extract<ToNode, { kind: "approve" | "ask" }>;

/**
 * A question that came up on a worker, put to the person of the session; nobody is there once the call is over.
 * Always answers: the worker would wait for it.
 */
export async function answerFor(
  question: Question,
  { dispatch, log }: { readonly dispatch: Dispatch | undefined; readonly log: Logger },
): Promise<NodeAnswer> {
  try {
    if (question.kind === "ask")
      return { kind: "ask", reply: await dispatch?.call.scope.ask(question.question) };
    return { kind: "approve", reply: dispatch === undefined ? "nobody" : await approval(question, dispatch) };
  } catch (error) {
    log.error(`a worker's question could not be put to the person: ${describeThrown(error).message}`);
    return question.kind === "ask" ? { kind: "ask", reply: undefined } : { kind: "approve", reply: "nobody" };
  }
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
