import { statSync } from "node:fs";
import { segmentsOf as pathSegments } from "../../base/glob.js";
import { wildcardMatches } from "../../base/wildcard.js";
import type { PolicyQuestion, Verdict } from "../../call/scope.js";
import { hostMatches, hostOf } from "../../net/hosts.js";
import type { CommandLine } from "../../shell/command-line.js";
import type { Effect } from "../../tool/effects.js";
import { noFiles, realFiles } from "../paths/file-view.js";
import { globOf, judgePath } from "../paths/judge-path.js";
import { deniesCommand, unlistedCommand } from "./command-rules.js";
import { describe } from "./judge-permissions.js";
import { domainOf, permissionMatches } from "./permission-names.js";
import type { Authority } from "./permission-table.js";
import type { ListedRule, Note, Restriction, RuleOrigin } from "./types.js";

export interface RestrictionQuestion {
  readonly effect: Effect;
  readonly authority: Authority;
  readonly args: PolicyQuestion["args"];
  readonly cwd: string;
  readonly home: string;
  readonly environment: string;
  /** False for paths of another machine, whose links nobody can see from here. */
  readonly isLocal: boolean;
  /** What the effect would run, when it names a command. */
  readonly line?: CommandLine | undefined;
  readonly note?: Note | undefined;
}

export interface RestrictionJudgement {
  readonly verdicts: readonly Verdict[];
  /** A rule of the person's own names this place as open. */
  readonly opened: boolean;
}

type Limit = Exclude<keyof Restriction, "permission" | "origin">;

/** What one limit says: nothing when it is kept, or does not apply. */
interface Finding {
  readonly verdict: "deny" | "ask";
  readonly reason: string;
  readonly at: RuleOrigin;
}

/** What the restrictions of every level say about one effect. Where the place is unknown, they are not kept. */
export function judgeRestrictions(question: RestrictionQuestion): RestrictionJudgement {
  const verdicts: Verdict[] = [];
  let opened = false;
  for (const level of question.authority.levels) {
    for (const restriction of level.restrictions) {
      if (!permissionMatches(restriction.permission, question.effect.action)) continue;
      let keptPaths = restriction.allowed_paths !== undefined && isPathLimited(question.effect, restriction);
      for (const limit of LIMITS) {
        if (restriction[limit] === undefined) continue;
        const finding = CHECKS[limit](restriction, question);
        const id = `${level.name}/restrictions.${restriction.permission}.${limit}`;
        question.note?.({
          rule: id,
          list: limit,
          outcome: finding?.verdict ?? "pass",
          at: finding?.at ?? restriction.origin,
          effect: describe(question.effect),
          reason: finding?.reason,
        });
        if (finding === undefined) continue;
        if (limit === "allowed_paths") keptPaths = false;
        const { verdict, reason } = finding;
        verdicts.push(
          verdict === "deny"
            ? { verdict, rule: id, reason }
            : { verdict, rule: id, reason, grantKeys: keysFor(id, question.effect), personOnly: true },
        );
      }
      if (keptPaths && level.onlyRestricts !== true && level.opensNothing !== true) opened = true;
    }
  }
  return { verdicts, opened };
}

/** A yes is about the place that was shown; without one it is for this call alone. */
function keysFor(id: string, { resource }: Effect): readonly string[] {
  return resource === "*" ? [] : [`${id}:${resource}`];
}

const CHECKS: Readonly<
  Record<Limit, (restriction: Restriction, question: RestrictionQuestion) => Finding | undefined>
> = {
  denied_paths: (restriction, question) => {
    if (!isPathLimited(question.effect, restriction)) return undefined;
    const rules = restriction.denied_paths ?? [];
    const verdict = pathVerdict(question, { deny: rules.map(({ text }) => text) });
    if (verdict === undefined) return unknownPlace("ask", question, restriction.origin);
    if (verdict.verdict === "allow") return closedBelow(rules, verdict.resolved, question);
    const rule = rules.find(({ text }) => text === verdict.pattern);
    return {
      verdict: "deny",
      reason: rule?.reason ?? verdict.reason,
      at: rule?.origin ?? restriction.origin,
    };
  },
  allowed_paths: (restriction, question) => {
    if (!isPathLimited(question.effect, restriction)) return undefined;
    const verdict = pathVerdict(question, {
      allow: (restriction.allowed_paths ?? []).map(({ text }) => text),
    });
    if (verdict === undefined) return unknownPlace("deny", question, restriction.origin);
    if (verdict.verdict === "allow") return undefined;
    return { verdict: "deny", reason: verdict.reason, at: restriction.origin };
  },
  denied_commands: ({ denied_commands = [], origin }, question) => {
    const { effect } = question;
    if (domainOf(effect.action) !== "terminal") return undefined;
    const { line } = question;
    if (effect.resource === "*" || line === undefined) return unknownPlace("ask", question, origin);
    const rule = denied_commands.find(({ text }) => deniesCommand(text, line));
    if (rule === undefined) return undefined;
    const reason = rule.reason ?? `The command matches ${JSON.stringify(rule.text)} in denied_commands`;
    return { verdict: "deny", reason, at: rule.origin };
  },
  allowed_commands: ({ allowed_commands = [], origin }, question) => {
    const { effect } = question;
    if (domainOf(effect.action) !== "terminal") return undefined;
    const { line } = question;
    if (effect.resource === "*" || line === undefined) return unknownPlace("deny", question, origin);
    const rules = allowed_commands.map(({ text }) => text);
    const unlisted = unlistedCommand(rules, line);
    if (unlisted === undefined) return undefined;
    const reason = `The command ${JSON.stringify(unlisted)} is not in allowed_commands`;
    return { verdict: "deny", reason, at: origin };
  },
  denied_hosts: ({ denied_hosts = [], origin }, question) => {
    const host = hostIn(question.effect);
    if (host === undefined) return undefined;
    if (host === "") return unknownPlace("ask", question, origin);
    const rule = denied_hosts.find(({ text }) => hostMatches(host, text));
    if (rule === undefined) return undefined;
    const reason =
      rule.reason ?? `The host ${host} is closed by ${JSON.stringify(rule.text)} in denied_hosts`;
    return { verdict: "deny", reason, at: rule.origin };
  },
  allowed_hosts: ({ allowed_hosts = [], origin }, question) => {
    const host = hostIn(question.effect);
    if (host === undefined) return undefined;
    if (host === "") return unknownPlace("deny", question, origin);
    if (allowed_hosts.some(({ text }) => hostMatches(host, text))) return undefined;
    return { verdict: "deny", reason: `The host ${host} is not in allowed_hosts`, at: origin };
  },
  allowed_methods: ({ allowed_methods = [], origin }, { effect, args }) => {
    const written = typeof args.method === "string" ? args.method : undefined;
    const method = (written ?? (effect.mode === "read" ? "GET" : "")).toUpperCase();
    if (allowed_methods.some(({ text }) => text.toUpperCase() === method)) return undefined;
    const reason = `The method ${method || "of this request"} is not in allowed_methods`;
    return { verdict: "deny", reason, at: origin };
  },
  environments: ({ environments = [], origin }, { effect, environment }) => {
    if (environments.some(({ text }) => wildcardMatches(text, environment))) return undefined;
    const reason = `${effect.action} is not allowed in the environment ${environment}`;
    return { verdict: "deny", reason, at: origin };
  },
  max_bytes: ({ max_bytes }, question) => {
    const bytes = bytesOf(question);
    if (max_bytes === undefined || bytes <= max_bytes.value) return undefined;
    const reason = `${bytes} bytes are more than the ${max_bytes.value} that ${question.effect.action} may take`;
    return { verdict: "deny", reason, at: max_bytes.origin };
  },
};

const LIMITS = Object.keys(CHECKS) as readonly Limit[];

/** Under a wildcard, paths are limited where there are paths; named outright, everything must be one. */
function isPathLimited({ action, resource }: Effect, { permission }: Restriction): boolean {
  return domainOf(action) === "file" || /^[/~]/.test(resource) || !domainOf(permission).includes("*");
}

/** Undefined when the effect does not say which place it is about. */
function pathVerdict(
  { effect, cwd, home, isLocal }: RestrictionQuestion,
  rules: { readonly allow?: readonly string[]; readonly deny?: readonly string[] },
): ReturnType<typeof judgePath> | undefined {
  if (effect.resource === "*" || (domainOf(effect.action) !== "file" && !/^[/~]/.test(effect.resource)))
    return undefined;
  const op = effect.action.slice(effect.action.indexOf(":") + 1);
  const files = isLocal ? realFiles : noFiles;
  return judgePath({ ...rules, path: effect.resource, cwd, home, op, files, followDeny: true });
}

/** Reading a folder means looking through it: what is closed inside must not come out that way. */
function closedBelow(
  rules: readonly ListedRule[],
  folder: string | null,
  { effect, cwd, home, isLocal }: RestrictionQuestion,
): Finding | undefined {
  if (!isLocal || folder === null || effect.mode !== "read" || !isFolder(folder)) return undefined;
  let doubt: Finding | undefined;
  for (const { text, origin } of rules) {
    const below = globOf(text, { cwd, home, purpose: "deny" })?.below(pathSegments(folder));
    const reason = `${folder} may hold files that ${JSON.stringify(text)} closes; name a narrower folder`;
    if (below === "named") return { verdict: "deny", reason, at: origin };
    if (below === "anywhere") doubt ??= { verdict: "ask", reason, at: origin };
  }
  return doubt;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Undefined when the effect is not about a host, empty when it does not say which one. */
function hostIn({ action, resource }: Effect): string | undefined {
  if (URL.canParse(resource)) {
    const host = hostOf(new URL(resource));
    if (host !== "") return host.toLowerCase();
  }
  if (domainOf(action) !== "network" && domainOf(action) !== "browser") return undefined;
  return /^[\w.-]+(?::\d+)?$/.test(resource) ? resource.replace(/:\d+$/, "").toLowerCase() : "";
}

/** What a call carries; for reading a file, what it would take in. */
function bytesOf({ effect, args, isLocal }: RestrictionQuestion): number {
  if (effect.mode !== "read") return textBytes(args);
  if (domainOf(effect.action) !== "file" || !isLocal || effect.resource === "*") return 0;
  try {
    const stats = statSync(effect.resource);
    return stats.isFile() ? stats.size : 0;
  } catch {
    return 0;
  }
}

function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + textBytes(inner), 0);
}

function unknownPlace(verdict: "deny" | "ask", { effect }: RestrictionQuestion, at: RuleOrigin): Finding {
  const reason = `${effect.action} is restricted, and this call does not say what it would touch`;
  return { verdict, reason, at };
}
