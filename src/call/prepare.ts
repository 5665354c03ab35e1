import type { Decision } from "../tool/call.js";
import type { Effect, Permission } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeThrown, ignoreRejection } from "../tool/thrown.js";
import { interrupted } from "./admit.js";
import type { CallRecord } from "./call-record.js";
import { decode } from "./decode-call.js";
import { judge } from "./judge.js";
import { resolve } from "./resolve.js";
import type { Verdict } from "./scope.js";
import type { Stage } from "./stages.js";

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
  return decode(call, call.request.arguments);
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

function declareEffects(call: CallRecord): Failure | undefined {
  const { tool, scope } = call;
  if (tool.effects === undefined) {
    if (tool.permissions.length > 0) call.effects = tool.permissions.map(widestEffect);
    return undefined;
  }
  try {
    const declared: unknown = tool.effects(call.args, {
      cwd: scope.info.cwd,
      environment: scope.environment.name,
      home: scope.home,
    });
    call.effects = readEffects(declared);
    return undefined;
  } catch (thrown) {
    // Without a list of effects nothing can be judged, so nothing may run.
    return failure(
      "denied",
      `${call.entry.name} could not say what this call would touch: ${describeThrown(thrown).message}`,
    );
  }
}

const MODES: readonly unknown[] = ["read", "write", "execute"];

/** A copy that the tool cannot change after the decision; anything that is not a list of effects throws. */
function readEffects(declared: unknown): readonly Effect[] {
  if (!Array.isArray(declared)) {
    ignoreRejection(declared);
    throw new TypeError("its effects are not a list");
  }
  return Array.from(declared as unknown[], (effect) => {
    if (typeof effect !== "object" || effect === null) throw new TypeError("an effect is not an object");
    const { action, resource, mode, cwd, reversible } = effect as Effect;
    if (
      typeof action !== "string" ||
      !action.includes(":") ||
      typeof resource !== "string" ||
      !MODES.includes(mode)
    ) {
      throw new TypeError("an effect lacks action, resource or mode");
    }
    return {
      action,
      resource,
      mode,
      ...(typeof cwd === "string" && { cwd }),
      ...(typeof reversible === "boolean" && { reversible }),
    };
  });
}

const READING_VERBS = new Set(["read", "fetch", "search", "list", "get"]);

/** A tool that lists only permissions is taken to touch everything they allow. */
function widestEffect(action: Permission): Effect {
  const verb = action.slice(action.indexOf(":") + 1);
  const mode = READING_VERBS.has(verb) ? "read" : verb === "execute" || verb === "run" ? "execute" : "write";
  return { action, resource: "*", mode };
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
