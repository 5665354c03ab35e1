import type { Decision } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import type { ApprovalAnswer } from "./scope.js";

/** Turns an "ask" into a yes of the person, or ends the call. Silence and absence are a no. */
export function approve(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  const { decision, grantKeys, scope } = call;
  if (decision === undefined || decision.verdict !== "ask") return undefined;
  if (grantKeys.length > 0 && grantKeys.every((key) => scope.grants.has(key))) {
    call.decision = { ...decision, answer: "session" };
    return undefined;
  }
  return seekConsent(call, decision);
}

async function seekConsent(call: CallRecord, decision: Decision): Promise<Failure | undefined> {
  const { grantKeys, scope } = call;
  const answer = await askPerson(call, decision);
  call.decision = { ...decision, answer };
  if (answer === "once" || answer === "session") {
    if (answer === "session") for (const key of grantKeys) scope.grants.add(key);
    return undefined;
  }
  if (call.signal?.aborted === true) return failure("cancelled", "interrupted while waiting for approval");
  const what = decision.reason ?? `rule ${decision.rule}`;
  if (answer === "nobody") {
    return failure(
      "denied",
      `needs approval (${what}), and nobody can be asked here`,
      "Run it where a person can answer.",
    );
  }
  if (answer === "timeout") {
    return failure(
      "timed_out_waiting",
      `needed approval (${what}); nobody answered within ${scope.services.approvalTimeoutMs / 1000} s`,
    );
  }
  return failure("denied", `the person denied it (${what})`, "Do not retry it; ask what they would prefer.");
}

async function askPerson(
  call: CallRecord,
  decision: Decision,
): Promise<ApprovalAnswer | "nobody" | "timeout"> {
  const { scope } = call;
  if (scope.approver === undefined) return "nobody";
  const deadline = AbortSignal.timeout(scope.services.approvalTimeoutMs);
  const signal = call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]);
  const expired = new Promise<"timeout">((resolve) => {
    signal.addEventListener("abort", () => resolve("timeout"), { once: true });
  });
  try {
    const answer = await Promise.race([
      scope.approver.ask(
        {
          callId: call.id,
          tool: call.entry.name,
          args: call.args,
          effects: call.effects,
          rule: decision.rule,
          reason: decision.reason ?? "",
          environment: scope.environment.name,
          session: scope.info,
        },
        signal,
      ),
      expired,
    ]);
    // Only the exact words count as consent.
    return answer === "once" || answer === "session" || answer === "timeout" ? answer : "deny";
  } catch (error) {
    scope.services.log.error(`approver failed, treating it as a denial: ${describeThrown(error).message}`);
    return "deny";
  }
}
