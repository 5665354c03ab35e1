import type { Policy } from "../call/scope.js";
import type { PermissionPolicy } from "../policy/engine.js";
import type { TraceStep } from "../policy/profiles/types.js";
import type { Effect } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import type { CallRequest, Session } from "./session.js";

/** What would be decided about a call, and by which rules. Field names are part of the public interface. */
export interface ExplainedDecision {
  readonly name: string;
  readonly profile: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly reason: string | null;
  readonly effects: readonly Effect[];
  readonly trace: readonly TraceStep[];
}

/** Nothing is run, nobody is asked. What ends before the decision has nothing to explain but itself. */
export async function explainDecision(
  session: Session,
  request: CallRequest,
): Promise<ExplainedDecision | Failure> {
  const explained = await session.explainCall(request);
  // Through Tool Search it is about the tool that is meant.
  const found = session.scope.bridge?.find(explained.name) ?? session.view.find(explained.name);
  if (explained.decision === undefined || "code" in found) {
    const missing = failure("internal", `nothing was decided about ${request.name}`);
    return explained.error ?? ("code" in found ? found : missing);
  }
  const { scope } = session;
  const trace = canExplain(scope.services.policy)
    ? scope.services.policy.explainDecision({
        entry: found.entry,
        args: explained.args ?? {},
        effects: explained.effects,
        session: scope.info,
        environment: scope.environment.name,
        environmentKind: scope.environment.kind,
        home: scope.home,
      }).trace
    : [];
  const { verdict, rule, reason } = explained.decision;
  return {
    name: found.entry.name,
    profile: session.profile,
    verdict,
    rule,
    reason: reason ?? null,
    effects: explained.effects,
    trace,
  };
}

function canExplain(policy: Policy): policy is PermissionPolicy {
  return "explainDecision" in policy;
}

/** A step as programs see it: where its rule is written stands beside it. */
export function plainStep({ at, ...step }: TraceStep) {
  return { ...step, file: at?.file ?? null, line: at?.line ?? null };
}
