import type { Policy, PolicyQuestion, Verdict } from "../../call/scope.js";
import type { PermissionPolicy } from "../../policy/engine.js";
import type { TraceStep } from "../../policy/profiles/types.js";
import { strictest } from "../../policy/strictest.js";

export interface HeldRules {
  /** The rules a session was opened with. */
  readonly opened: Policy;
  /** The rules in force now. */
  latest(): Policy;
  /** A profile that the person has put everybody under since. */
  profileNow(): string | undefined;
  /** Why a tool has been switched off since. */
  switchedOff(tool: string): string | undefined;
}

/**
 * What counts for a session that stays open while the rules change: a call passes only if the rules of then and
 * those of now let it pass. So a denial holds from the next call on, and what was loosened counts for sessions that
 * are opened later.
 */
export function heldPolicy(rules: HeldRules): Policy {
  const { opened } = rules;
  const decide = (question: PolicyQuestion): Verdict => {
    const now = questionNow(question, rules);
    if (now === undefined) return opened.decide(question);
    const denied = off(question, rules);
    return strictest([opened.decide(question), ...(denied ?? []), now.latest.decide(now.question)]);
  };
  return {
    decide,
    ready(effects) {
      const loading = [opened.ready?.(effects), rules.latest().ready?.(effects)].filter(isLoading);
      return loading.length === 0 ? undefined : Promise.all(loading).then(() => undefined);
    },
    ...(explains(opened) && {
      explainDecision(question: PolicyQuestion) {
        const now = questionNow(question, rules);
        const before = opened.explainDecision(question);
        if (now === undefined) return before;
        const after: readonly TraceStep[] = explains(now.latest)
          ? now.latest.explainDecision(now.question).trace
          : [];
        return { decision: decide(question), trace: [...before.trace, ...after] };
      },
    }),
  };
}

/** Undefined as long as nothing has changed: then one answer is enough. */
function questionNow(
  question: PolicyQuestion,
  rules: HeldRules,
): { readonly latest: Policy; readonly question: PolicyQuestion } | undefined {
  const latest = rules.latest();
  const under = rules.profileNow();
  const { session } = question;
  const joined =
    under !== undefined && under !== session.profile && !session.profile.split("+").includes(under);
  if (latest === rules.opened && !joined && rules.switchedOff(question.entry.name) === undefined)
    return undefined;
  if (!joined) return { latest, question };
  // The session itself keeps its name for what it is under, and its folder may move while it is judged.
  const both = Object.create(session, { profile: { value: `${session.profile}+${under}` } });
  return { latest, question: { ...question, session: both } };
}

function off({ entry }: PolicyQuestion, rules: HeldRules): readonly Verdict[] | undefined {
  const because = rules.switchedOff(entry.name);
  if (because === undefined) return undefined;
  return [
    { verdict: "deny", rule: "tools.disabled", reason: `switched off since this session began: ${because}` },
  ];
}

function explains(policy: Policy): policy is PermissionPolicy {
  return "explainDecision" in policy;
}

function isLoading(loading: Promise<void> | undefined): loading is Promise<void> {
  return loading !== undefined;
}
