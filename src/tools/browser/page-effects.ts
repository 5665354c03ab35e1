import type { Effect, EffectScope } from "../../tool/effects.js";

/** Calls of one session's browser wait for each other, in the order of the message; other sessions have their own. */
export function browserLock({ session = "" }: EffectScope) {
  return { name: `browser:${session}`, shared: false } as const;
}

/** What is on the screen was loaded by calls that were allowed to. */
export function looksAtPage(scope: EffectScope): Effect {
  return { action: "network:fetch", resource: "the open page", mode: "read", lock: browserLock(scope) };
}

/** Clicking and typing does whatever the page makes of it. */
export function actsOnPage(scope: EffectScope): Effect {
  return {
    action: "browser:act",
    resource: "the open page",
    mode: "write",
    reversible: false,
    lock: browserLock(scope),
  };
}
