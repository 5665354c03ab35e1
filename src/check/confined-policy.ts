import type { Policy } from "../call/scope.js";
import { isWithin } from "../policy/protected-paths.js";

/** While a tool is being checked with random arguments, it may touch nothing but a scratch folder. */
export function confinedPolicy(scratch: string): Policy {
  return {
    decide({ effects }) {
      const outside = effects.find(
        (effect) => !(effect.action.startsWith("file:") && isWithin(effect.resource, scratch)),
      );
      return outside === undefined
        ? { verdict: "allow", rule: "check:scratch" }
        : {
            verdict: "deny",
            rule: "check:confined",
            reason: `${outside.action} is not run with random arguments`,
          };
    },
  };
}
