import { visible } from "../base/visible-text.js";
import type { Approver } from "../call/scope.js";
import { RuntimeApprovals } from "../policy/approvals/runtime-approvals.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Output } from "./output.js";

/** For a command without a terminal: the queue when that is configured, otherwise nobody. */
export function unattendedApprover(
  runtime: Runtime,
  out: Output,
): { readonly approver: Approver | undefined; close(): Promise<void> } {
  const approvals = new RuntimeApprovals(runtime);
  const approver = approvals.unattended();
  const stop = approver === undefined ? () => undefined : tellQuestions(runtime, out);
  return {
    approver,
    async close() {
      stop();
      await approvals.close();
    },
  };
}

function tellQuestions(runtime: Runtime, out: Output): () => void {
  return runtime.events.on((event) => {
    if (event.type !== "approval.pending") return;
    const seconds = Math.round((event.expires_at - Date.now()) / 1000);
    out.note(
      `${visible(event.tool)} waits ${seconds} s for approval (${visible(event.reason)}): ` +
        `hermes approvals approve ${event.id}`,
    );
  });
}
