import type { ApprovalReply, Approver } from "../../call/scope.js";
import type { EventBus } from "../../observe/events.js";
import { type ApprovalRecord, cutMiddle } from "./record.js";
import { isRefused } from "./refusal.js";
import type { ApprovalStore } from "./store.js";

export interface QueueOptions {
  readonly store: ApprovalStore;
  readonly events: EventBus;
  readonly redact: (text: string) => string;
  /** Who may answer ("telegram:42", "cli"); everybody with the right to approve when left out. */
  readonly audience?: readonly string[];
  /** Told of each question once it can be answered. */
  onPending?(record: ApprovalRecord): void;
}

/**
 * Asks by leaving a durable question that anybody with the right to can answer, in this process or another.
 * The answer is used up by this one call; when the call stops waiting, the question is over.
 */
export function createQueueApprover(options: QueueOptions): Approver {
  const { store, events, redact, audience } = options;
  return {
    async ask(request, signal) {
      if (signal.aborted) return { answer: "deny" };
      const record = await store.add(request, { redact, audience });
      if (isRefused(record)) return { answer: "deny", by: "approvals.max_mb", reason: record.message };
      announcePending(events, record);
      options.onPending?.(record);
      const gone = await answeredOrGone(store, { id: record.id, signal });
      const reply = gone ? await withdrawn(store, record) : await usedAnswer(store, record);
      announceSettled(events, store.find(record.id) ?? record);
      return reply;
    },
  };
}

/** True when the call ended before anybody answered. */
function answeredOrGone(
  store: ApprovalStore,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = () => {
      stopWatching();
      resolve(true);
    };
    const stopWatching = store.watch(id, () => {
      signal.removeEventListener("abort", leave);
      resolve(signal.aborted);
    });
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
  });
}

async function withdrawn(store: ApprovalStore, { id }: ApprovalRecord): Promise<ApprovalReply> {
  await store.withdraw(id);
  return { answer: "deny" };
}

async function usedAnswer(store: ApprovalStore, asked: ApprovalRecord): Promise<ApprovalReply> {
  const record = store.find(asked.id);
  if (record?.status !== "approved") return denialOf(record);
  const used = await store.consume(asked);
  return isRefused(used) || used.answer === undefined ? { answer: "deny" } : replyOf(used.answer);
}

function denialOf(record: ApprovalRecord | undefined): ApprovalReply {
  const { by, reason } = record?.answer ?? {};
  return {
    answer: "deny",
    by,
    reason,
  };
}

export function replyOf({ answer, by, reason, widen }: ApprovalReply): ApprovalReply {
  return {
    answer,
    by,
    reason,
    widen,
  };
}

/** Small whatever the call is: events are sent to every listener. The whole question is in the list. */
const EVENT_TEXT_CHARS = 500;

function announcePending(events: EventBus, record: ApprovalRecord): void {
  const { shown } = record;
  const short = (text: string) => cutMiddle(text, EVENT_TEXT_CHARS);
  events.emit({
    type: "approval.pending",
    id: record.id,
    hash: record.hash,
    tool: record.tool,
    what: short(shown.what),
    reason: short(shown.reason),
    session: shown.session,
    door: shown.door,
    environment: shown.environment,
    ...(record.audience !== undefined && { audience: record.audience }),
    expires_at: record.expiresAt,
    signature: record.signature,
    at: record.createdAt,
  });
}

function announceSettled(events: EventBus, record: ApprovalRecord): void {
  const { answer } = record;
  events.emit({
    type: "approval.settled",
    id: record.id,
    tool: record.tool,
    session: record.shown.session,
    status: record.status,
    ...(answer !== undefined && { answer: answer.answer, by: answer.by }),
    at: Date.now(),
  });
}
