import type { Verdict } from "../call/scope.js";

/**
 * One verdict for many: a denial as it is; questions together, so that a yes to one of them does not cover the
 * others; otherwise the first permission.
 */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  const denied = verdicts.find(({ verdict }) => verdict === "deny");
  if (denied !== undefined) return denied;
  const asks = verdicts.filter(({ verdict }) => verdict === "ask");
  const [first] = asks;
  if (first !== undefined) return asks.length === 1 ? first : together(first, asks);
  const [allowed] = verdicts;
  if (allowed === undefined) return { verdict: "deny", rule: "no-verdict", reason: "no rule speaks of this" };
  const used = distinct(verdicts.flatMap(({ grantsUsed }) => grantsUsed ?? []));
  return used.length === 0 ? allowed : { ...allowed, grantsUsed: used };
}

function together(first: Verdict, asks: readonly Verdict[]): Verdict {
  const segments = asks.flatMap((ask) => ask.segments ?? []);
  // "Always" and "session" are offered only when they would answer every one of the questions.
  const isMemorable = asks.every(({ remember }) => remember !== undefined && remember.length > 0);
  const isGrantable = asks.every(({ grantKeys }) => grantKeys !== undefined && grantKeys.length > 0);
  const { segments: _segments, remember: _remember, personOnly: _personOnly, ...rest } = first;
  return {
    ...rest,
    reason: distinct(asks.map(({ reason, rule }) => reason ?? rule)).join("; "),
    grantKeys: isGrantable ? distinct(asks.flatMap(({ grantKeys }) => grantKeys ?? [])) : [],
    ...(segments.length > 0 && { segments }),
    ...(isMemorable && { remember: distinct(asks.flatMap(({ remember }) => remember ?? [])) }),
    ...(asks.some(({ personOnly }) => personOnly === true) && { personOnly: true }),
  };
}

function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Set(items)];
}
