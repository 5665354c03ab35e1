import { wildcardMatches } from "../paths/segment-pattern.js";

const SHAPE = /^(?:\*|[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*/-]+)$/;

/** `domain:verb`, either part with `*`, or `*` alone. */
export function isPermission(text: string): boolean {
  return SHAPE.test(text);
}

/** Whether a rule is about a permission. `*` stands for any text within its own part. */
export function permissionMatches(rule: string, permission: string): boolean {
  if (rule === "*" || rule === permission) return true;
  const cut = rule.indexOf(":");
  const at = permission.indexOf(":");
  if (cut === -1 || at === -1 || !rule.includes("*")) return false;
  return (
    wildcardMatches(rule.slice(0, cut), permission.slice(0, at)) &&
    wildcardMatches(rule.slice(cut + 1), permission.slice(at + 1))
  );
}

export function domainOf(permission: string): string {
  const cut = permission.indexOf(":");
  return cut === -1 ? permission : permission.slice(0, cut);
}

/** What tools are known to ask for; only used to say what a misspelt rule may have meant. */
export const KNOWN_PERMISSIONS: readonly string[] = (
  "file:read file:write file:delete network:fetch network:search network:write terminal:execute env:read " +
  "env:write git:read git:write docker:run docker:read database:read database:write system:read " +
  "process:read process:write code:execute browser:navigate browser:control mcp:call memory:read " +
  "memory:write sandbox:widen"
).split(" ");
