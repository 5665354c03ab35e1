import { wildcardMatches } from "../../base/wildcard.js";
import { didYouMean, nearest } from "../../config/did-you-mean.js";

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

/** What tools are known to ask for; only used to find rules that are misspelt. */
export const KNOWN_PERMISSIONS: readonly string[] = (
  "file:read file:write file:delete network:fetch network:search network:write terminal:execute env:read " +
  "env:write git:read git:write docker:run docker:read database:read database:write system:read " +
  "process:read process:write code:execute browser:navigate browser:control browser:act mcp:call memory:read " +
  "memory:write skills:write model:ask sandbox:widen cron:read cron:write clipboard:read clipboard:write message:send " +
  "home:read home:act rl:read rl:write rl:train storage:read storage:write " +
  "calendar:read calendar:write"
).split(" ");

/** Domains whose verbs are names that others choose. */
const OPEN_DOMAINS: readonly string[] = ["mcp"];

export interface Misspelling {
  readonly hint: string;
  /** Only the case is wrong: nobody can have meant anything else. */
  readonly certain: boolean;
}

/** What a rule may have meant that is about no known permission; undefined when it may well be right. */
export function misspelt(rule: string): Misspelling | undefined {
  const isKnown = (text: string) => KNOWN_PERMISSIONS.some((known) => permissionMatches(text, known));
  if (isKnown(rule)) return undefined;
  const domains = [...new Set(KNOWN_PERMISSIONS.map(domainOf))];
  const domain = domainOf(rule);
  const lower = rule.toLowerCase();
  if (
    rule !== lower &&
    (isKnown(lower) || (!domains.includes(domain) && domains.includes(domainOf(lower))))
  ) {
    return { hint: `did you mean "${lower}"?`, certain: true };
  }
  if (OPEN_DOMAINS.includes(domain)) return undefined;
  if (domains.includes(domain) || domain.includes("*")) {
    const verbOf = (permission: string) => permission.slice(permission.indexOf(":") + 1);
    const near = KNOWN_PERMISSIONS.filter((known) => wildcardMatches(domain, domainOf(known)));
    const verbs = [...new Set(near.map(verbOf))];
    const [meant] = nearest(verbOf(rule), verbs);
    const hint =
      meant === undefined
        ? `there are ${verbs.map((verb) => `${domain}:${verb}`).join(", ")}`
        : `did you mean "${domain}:${meant}"?`;
    return { hint, certain: false };
  }
  const hint = didYouMean(domain, domains);
  return hint === undefined ? undefined : { hint, certain: false };
}
