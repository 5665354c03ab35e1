import type { Permission } from "../tool/effects.js";

/** Which permissions a session has at all. Deny beats ask beats allow; `domain:*` and `*` are wildcards. */
export interface Profile {
  readonly name: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly ask: readonly string[];
}

export const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [
    { name: "default", allow: ["*"], deny: [], ask: [] },
    {
      name: "readonly_research",
      allow: ["network:search", "network:fetch", "file:read"],
      deny: ["file:write", "file:delete", "terminal:execute"],
      ask: [],
    },
  ].map((profile) => [profile.name, profile]),
);

export function permissionMatches(rule: string, permission: Permission): boolean {
  if (rule === "*" || rule === permission) return true;
  return rule.endsWith(":*") && permission.startsWith(rule.slice(0, -1));
}
