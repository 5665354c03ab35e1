import type { Decision } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { interrupted } from "./admit.js";
import type { CallRecord } from "./call-record.js";
import { declareEffects } from "./declare-effects.js";
import { decode } from "./decode-call.js";
import { judge } from "./judge.js";
import { resolve } from "./resolve.js";
import type { Verdict } from "./scope.js";

/**
 * Everything up to the decision: nothing has been run or asked. Real calls, dry runs and `explain` share
 * these stages, so they cannot disagree.
 */
export const PREPARE: readonly Stage[] = [
  receive,
  resolve,
  decodeRequest,
  beforeHooks,
  declareEffects,
  decide,
];

/** What a call would touch, without hooks, policy or anything a person would notice; batches plan with it. */
export const PEEK: readonly Stage[] = [receive, resolve, decodeRequest, declareEffects];

/** What arrives after the person has interrupted is answered, not run. */
function receive(call: CallRecord): Failure | undefined {
  return call.request.malformed ?? (call.signal?.aborted === true ? interrupted() : undefined);
}

function decodeRequest(call: CallRecord): ReturnType<Stage> {
  return decode(call, call.target.arguments);
}

function beforeHooks(call: CallRecord): ReturnType<Stage> {
  return call.scope.services.hooks.has("pre_tool_call") ? askHooks(call) : undefined;
}

async function askHooks(call: CallRecord): Promise<Failure | undefined> {
  const answer = await call.scope.services.hooks.before({
    tool: call.entry.name,
    args: call.args,
    callId: call.id,
    session: call.scope.info,
  });
  if ("block" in answer) return failure("blocked", answer.block);
  if ("ask" in answer) call.hookQuestion = answer.ask;
  return answer.modified ? decode(call, answer.args) : undefined;
}

function decide(call: CallRecord): ReturnType<Stage> {
  const loading = call.scope.services.policy.ready?.(call.effects);
  return loading === undefined ? decideNow(call) : loading.then(() => decideNow(call));
}

function decideNow(call: CallRecord): Failure | undefined {
  const verdict = judge(call, call.effects);
  if (verdict === undefined) {
    return failure("denied", "the policy gave no usable verdict, so nothing was run");
  }
  call.judged = verdict;
  const decision = told(verdict, call.scope.services.redact);
  call.decision = decision;
  if (verdict.grantKeys !== undefined) call.grantKeys = verdict.grantKeys;
  if (decision.verdict === "deny") {
    return failure("denied", decision.reason ?? `denied by rule ${decision.rule}`, `Rule: ${decision.rule}`);
  }
  if (call.hookQuestion !== undefined) {
    // No earlier yes covers a hook's question, so the grants of the policy's own question do not count here.
    const reasons = [decision.verdict === "ask" ? decision.reason : undefined, call.hookQuestion].filter(
      Boolean,
    );
    call.decision = { verdict: "ask", rule: "hook:pre_tool_call", reason: reasons.join("; ") };
    call.grantKeys = [];
  }
  return undefined;
}

/** What is told about a decision outside the path: not the parts it was made of. */
function told({ verdict, rule, reason }: Verdict, redact: (text: string) => string): Decision {
  return reason === undefined ? { verdict, rule } : { verdict, rule, reason: redact(reason) };
}

/** One step of the path: undefined lets the call go on, a failure ends it. */
export type Stage = (call: CallRecord) => Failure | undefined | Promise<Failure | undefined>;

/** Walks the stages in order until one ends the call. Waits only for those that really wait. */
export async function walkStages(call: CallRecord, stages: readonly Stage[]): Promise<Failure | undefined> {
  for (const stage of stages) {
    const outcome = stage(call);
    const ended = outcome instanceof Promise ? await outcome : outcome;
    if (ended !== undefined) return ended;
  }
  return undefined;
}
