import type { LoadedConfig } from "../config/types.js";
import type { NetworkRules } from "./urls.js";

/** What the configuration says, the same for the policy, the client behind `ctx.fetch` and everything else that fetches. */
export function networkRules({
  security,
  network,
}: Pick<LoadedConfig["values"], "security" | "network">): NetworkRules {
  return {
    allowPrivate: security.allow_private_urls,
    privateHosts: security.allowed_hosts,
    onlyHosts: security.url_allowlist,
    blockedHosts: security.website_blocklist,
    proxy: network.proxy === "" ? undefined : withScheme(network.proxy),
    noProxy: network.no_proxy,
  };
}

/** `proxy.example:3128`, as people write it too. */
function withScheme(proxy: string): string {
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}
