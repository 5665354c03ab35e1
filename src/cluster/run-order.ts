import type { CallRecord } from "../call/call-record.js";
import { walk } from "../call/run-call.js";
import type { ApprovalRequest, Approver, CallScope } from "../call/scope.js";
import type { Entry } from "../registry/entry.js";
import type { Runtime } from "../runtime/runtime.js";
import { type Failure, failure } from "../tool/errors.js";
import { ToolResult } from "../tool/result.js";
import { describeThrown } from "../tool/thrown.js";
import type { Bus } from "./bus.js";
import { masked } from "./masked.js";
import { type NodeAnswer, type Order, type Outcome, type ToNode, whatIsTouched } from "./messages.js";
import { hashOf } from "./place.js";
import type { Hosted, WorkerSessions } from "./worker-sessions.js";

/** The longest that a person may take. */
const LONGEST_QUESTION_MS = 86_400_000;
/** An answer takes its way; the node where the session lives says when the time of a question is over. */
const ANSWER_MS = 5_000;

export interface OrderParts {
  readonly worker: string;
  readonly runtime: Runtime;
  readonly sessions: WorkerSessions;
  readonly bus: Bus;
  readonly signal: AbortSignal;
  /** The latest that asked for it. */
  attempt(): number;
}

/** The whole path once more, on this machine and by its rules. Never rejects: what goes wrong is in the outcome. */
export async function runOrder(order: Order, parts: OrderParts): Promise<Outcome> {
  const { uid, attempt } = order;
  const { worker, runtime } = parts;
  try {
    // Whoever chose this worker may not have heard yet that the tool was changed or taken away here.
    if (!isMeant(order, runtime.registry.get(order.tool)))
      return declinedBy(worker, { uid, attempt, why: "tool", words: `it does not have this ${order.tool}` });
    const hosted = await parts.sessions.of(order);
    if (hosted === undefined || !isMeant(order, hosted.session.scope.view.entries.get(order.tool)))
      return declinedBy(worker, { uid, attempt, why: "session", words: "it does not have this session" });
    const call = await runHere(order, { ...parts, hosted });
    return { ...outcomeOf(call, runtime.redact), uid, attempt, worker, ...leftBy(hosted) };
  } catch (error) {
    const words = `worker ${worker} cannot run it: ${describeThrown(error).message}`;
    return notRun({ uid, attempt, worker, ended: failure("unavailable", words) });
  }
}

/** What was judged, and perhaps approved, is this tool and no other of its name. */
function isMeant({ hash }: Order, entry: Entry | undefined): boolean {
  return entry !== undefined && (hash === undefined || hash === hashOf(entry));
}

/** Of an order that this worker does not begin. */
export function declinedBy(
  worker: string,
  order: Pick<Outcome, "uid" | "attempt"> & {
    readonly why: NonNullable<Outcome["declined"]>;
    readonly words: string;
  },
): Outcome {
  const { uid, attempt, why, words } = order;
  const ended = failure("unavailable", `worker ${worker} did not begin it: ${words}`);
  return { ...notRun({ uid, attempt, worker, ended }), declined: why };
}

function notRun(order: Pick<Outcome, "uid" | "attempt" | "worker"> & { readonly ended: Failure }): Outcome {
  return { ...order, began: false, untrustedFrom: [], retries: 0, notices: [] };
}

function runHere(order: Order, parts: OrderParts & { readonly hosted: Hosted }): Promise<CallRecord> {
  const { hosted, bus, signal, attempt } = parts;
  const { uid, node, id, tool, args, traceparent, isKept } = order;
  const subject = bus.subject("node", node);
  const session = hosted.session.withPerson({
    approver: approverOf(order, async (request) => {
      const asked: ToNode = { kind: "approve", uid, attempt: attempt(), request };
      const left = Math.min(request.expiresAt - Date.now() + ANSWER_MS, LONGEST_QUESTION_MS);
      return (await bus.request(subject, asked, left)) as NodeAnswer;
    }),
    async ask(question) {
      const asked: ToNode = { kind: "ask", uid, attempt: attempt(), question };
      const answer = (await bus.request(subject, asked, LONGEST_QUESTION_MS)) as NodeAnswer;
      return answer.kind === "ask" ? answer.reply : undefined;
    },
  });
  const scope: CallScope = {
    ...session.scope,
    // The result is finished where the session lives.
    forProgram: true,
    services: { ...session.scope.services, reviewer: undefined, events: parts.sessions.eventsOfOrders },
  };
  return walk({ id, name: tool, arguments: args }, scope, {
    signal,
    traceparent,
    isKept,
    onProgress: (progress) => bus.publish(subject, { kind: "progress", uid, attempt: attempt(), progress }),
  });
}

/**
 * A question of this machine's rules about the order itself is answered by what was approved where the session lives,
 * if that is what the call touches here; everything else (what scripts call, and what only this machine can see) is
 * asked there.
 */
function approverOf(order: Order, ask: (request: ApprovalRequest) => Promise<NodeAnswer>): Approver {
  return {
    async ask(request) {
      const isOrder = request.callId === order.id && request.tool === order.tool;
      if (isOrder && order.approved === whatIsTouched(request.effects, request.session.cwd))
        return { answer: "once", by: `node ${order.node}` };
      const answer = await ask(request);
      if (answer.kind !== "approve" || answer.reply === "nobody")
        return { answer: "deny", reason: "nobody can be asked where the session lives" };
      return answer.reply;
    },
  };
}

function outcomeOf(
  call: CallRecord,
  redact: (text: string) => string,
): Omit<Outcome, "uid" | "attempt" | "worker" | "notices"> {
  const { ended } = call;
  return {
    began: call.began,
    ...(ended !== undefined && { ended: masked(ended, redact) }),
    ...outputOf(call.output, redact),
    untrustedFrom: call.untrustedFrom,
    usage: call.usage,
    model: call.model,
    retries: call.retries,
  };
}

/** In a form that can travel, without this machine's secrets. */
function outputOf(
  output: unknown,
  redact: (text: string) => string,
): Pick<Outcome, "output" | "isToolResult"> {
  if (output === undefined) return {};
  if (ToolResult.isInstance(output)) {
    const { success, output: inner, error, hint, content } = output;
    return { isToolResult: true, output: masked({ success, output: inner, error, hint, content }, redact) };
  }
  return { output: masked(output, redact) };
}

function leftBy(hosted: Hosted): Pick<Outcome, "task" | "notices"> {
  const { task } = hosted.session.scope;
  const notices = hosted.session.takeNotices();
  if (task.version === hosted.toldVersion) return { notices };
  hosted.toldVersion = task.version;
  return { notices, task: { cwd: task.cwd, exported: task.exported } };
}
