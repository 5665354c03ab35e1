import type { NetworkRules } from "./urls.js";

/** The operator's network rules as tools find them in their settings. */
export function networkRulesFrom(settings: Readonly<Record<string, unknown>>): NetworkRules {
  return {
    allowPrivate: settings.allow_private_urls === true,
    privateHosts: listOf(settings.allowed_hosts),
    onlyHosts: listOf(settings.url_allowlist),
    blockedHosts: listOf(settings.website_blocklist),
  };
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
