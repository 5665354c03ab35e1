import type { Verdict } from "../../call/scope.js";
import type { Effect } from "../../tool/effects.js";
import { permissionMatches } from "./permission-names.js";
import type { Authority } from "./permission-table.js";
import type { Note } from "./trace.js";
import type { Answer, Level, ListedRule } from "./types.js";

const FIELD = { deny: "deny", ask: "approval_required", allow: "allow" } as const;

/** What the lists of permissions say about one effect: deny beats ask beats allow, over all levels. */
export function judgePermission(question: {
  readonly effect: Effect;
  readonly authority: Authority;
  /** For each profile the rule that grants the tool itself, whatever it touches. */
  readonly toolGrants: readonly (string | undefined)[];
  readonly note?: Note;
}): Verdict {
  const { effect, authority, note } = question;
  const { action } = effect;
  const denied = firstMatch({ levels: authority.levels, answer: "deny", effect, note });
  const asked = firstMatch({ levels: authority.levels, answer: "ask", effect, note });
  // To be asked about something is to have it, once the answer is yes.
  const grants = authority.granting.map(
    (levels, index) =>
      firstMatch({ levels, answer: "allow", effect, note })?.id ??
      firstMatch({ levels, answer: "ask", effect })?.id ??
      question.toolGrants[index],
  );
  if (denied !== undefined) {
    const reason = denied.rule.reason ?? `Permission ${action} is denied in the current profile`;
    return { verdict: "deny", rule: denied.id, reason };
  }
  const ungranted = grants.indexOf(undefined);
  if (ungranted !== -1) {
    const id = `profile:${authority.names[ungranted]}/default`;
    const reason = `Permission ${action} is not granted by the current profile`;
    note?.({ rule: id, outcome: "deny", effect: describe(effect), reason });
    return { verdict: "deny", rule: id, reason };
  }
  if (asked !== undefined) {
    const reason = asked.rule.reason ?? `${action} needs approval in the current profile`;
    // A rule may be about many permissions; the answer is about the one that was shown.
    return {
      verdict: "ask",
      rule: asked.id,
      reason,
      grantKeys: [`${asked.level}/${action}`],
      personOnly: true,
    };
  }
  return { verdict: "allow", rule: grants[0] ?? "allowed" };
}

interface Matched {
  readonly rule: ListedRule;
  readonly level: string;
  readonly id: string;
}

/** The first rule of this kind that is about the effect; without notes nothing after it is looked at. */
function firstMatch(search: {
  readonly levels: readonly Level[];
  readonly answer: Answer;
  readonly effect: Effect;
  readonly note?: Note;
}): Matched | undefined {
  const { levels, answer, effect, note } = search;
  let found: Matched | undefined;
  for (const level of levels) {
    for (const rule of level[answer]) {
      const matched = permissionMatches(rule.text, effect.action);
      note?.({
        rule: `${level.name}/${rule.text}`,
        list: FIELD[answer],
        outcome: matched ? answer : "no match",
        at: rule.origin,
        effect: describe(effect),
        ...(rule.reason !== undefined && { reason: rule.reason }),
      });
      if (!matched) continue;
      found ??= { rule, level: level.name, id: `${level.name}/${rule.text}` };
      if (note === undefined) return found;
    }
  }
  return found;
}

/** Whether a permission can never be used under this authority, and the rule that says so. */
export function deniedOutright(
  permission: Effect["action"],
  authority: Authority,
  toolGrants: readonly (string | undefined)[],
): string | undefined {
  const effect: Effect = { action: permission, resource: "*", mode: "read" };
  const verdict = judgePermission({ effect, authority, toolGrants });
  return verdict.verdict === "deny" ? verdict.rule : undefined;
}

export function describe({ action, resource }: Effect): string {
  return `${action} ${resource}`;
}
