import { approvalHash } from "../../call/approve.js";
import type { Approver } from "../../call/scope.js";
import type { Session, SessionOptions } from "../../runtime/session.js";
import type { CallResult } from "../../tool/call.js";
import { type Failure, failure } from "../../tool/errors.js";
import { replyOf } from "./queue.js";
import type { ApprovalRecord } from "./record.js";
import { expired, isRefused, unknownId, wrongStatus } from "./refusal.js";
import type { ApprovalStore } from "./store.js";

export interface Resumption {
  readonly store: ApprovalStore;
  readonly id: string;
  readonly openSession: (options: SessionOptions) => Promise<Session>;
  readonly signal?: AbortSignal;
}

/**
 * Runs a call whose process died after it had asked and that has been approved since. It walks the whole path
 * again: what is denied by now stays denied, and only if it comes to the very same call is the approval used,
 * once. A call that could not be run keeps its approval until it expires.
 */
export async function resumeApproval(resumption: Resumption): Promise<CallResult | Failure> {
  const { store, id, signal } = resumption;
  const record = store.find(id);
  if (record === undefined) return unknownId(id);
  if (record.status === "expired" || (isOpen(record) && record.expiresAt <= Date.now()))
    return expired(record);
  if (record.status !== "approved" || record.call === undefined) return wrongStatus(record);
  if (store.isOwnerAlive(record)) {
    return failure("denied", `The process that asked ${id} is still there and runs the call itself`);
  }
  const { call } = record;
  const request = { id: call.callId, name: call.tool, arguments: call.args };
  const consent = onlyFor(record);
  const session = await resumption.openSession({
    door: "cli",
    toolsets: [call.tool],
    profile: call.profile,
    environment: call.environment,
    cwd: call.cwd,
    workspace: call.workspace,
    approver: consent.approver,
  });
  try {
    const explained = await session.explainCall(request);
    if (explained.error !== undefined) return explained.error;
    const { environment, cwd } = session;
    const { name: tool, args = {}, effects } = explained;
    const binding = approvalHash({ tool, args, effects, environment, cwd });
    if (binding !== record.hash) {
      return failure("denied", `${id} was approved for other arguments or another place, so nothing was run`);
    }
    const used = await store.consume(record);
    if (isRefused(used)) return used;
    consent.unlock();
    return await session.call(request, { signal });
  } finally {
    session.close();
  }
}

/** Says yes to the approved call once it has been paid for, and to nothing else. */
function onlyFor(record: ApprovalRecord): { readonly approver: Approver; unlock(): void } {
  let usable = false;
  return {
    approver: {
      async ask(request) {
        const fits = usable && request.hash === record.hash && record.answer !== undefined;
        usable = false;
        return fits && record.answer !== undefined ? replyOf(record.answer) : { answer: "deny" };
      },
    },
    unlock: () => {
      usable = true;
    },
  };
}

function isOpen({ status }: ApprovalRecord): boolean {
  return status === "pending" || status === "approved";
}
