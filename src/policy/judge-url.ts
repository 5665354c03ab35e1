import type { Verdict } from "../call/scope.js";
import type { NetworkRules } from "../net/urls.js";
import type { Effect } from "../tool/effects.js";

let net: typeof import("../net/urls.js") | undefined;

/** Loads what URLs are judged with; most sessions never need it. */
export async function loadUrlRules(): Promise<void> {
  net ??= await import("../net/urls.js");
}

/** True for the effect of fetching an address on the web. */
export function fetchesUrl({ action, resource }: Effect): boolean {
  return action.startsWith("network:") && /^\s*https?:/i.test(resource);
}

/**
 * What the client behind `ctx.fetch` would refuse whatever the permissions say, as far as the address itself tells:
 * names are looked up only when they are fetched, and judged again then.
 */
export function judgeUrlEffect(effect: Effect, rules: NetworkRules): Verdict | undefined {
  const reason = net?.refusalOf(effect.resource, rules);
  if (reason === undefined) return undefined;
  const shown = effect.resource.replace(/\/\/[^/?#]*@/, "//***@").slice(0, 200);
  return { verdict: "deny", rule: "security.urls", reason: `${reason} (${shown})` };
}
