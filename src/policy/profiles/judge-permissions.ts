import { wildcardMatches } from "../../base/wildcard.js";
import type { Verdict } from "../../call/scope.js";
import type { Effect } from "../../tool/effects.js";
import type { OfferedTool } from "./permission-files.js";
import { permissionMatches } from "./permission-names.js";
import type { Authority } from "./permission-table.js";
import type { Answer, Level, ListedRule, Note, ParameterRule, ToolRule } from "./types.js";

const FIELD = { deny: "deny", ask: "approval_required", allow: "allow" } as const;

/** What the lists of permissions say about one effect: deny beats ask beats allow, over all levels. */
export function judgePermission(question: {
  readonly effect: Effect;
  readonly authority: Authority;
  /** For each profile the rule that grants the tool itself, whatever it touches. */
  readonly toolGrants: readonly (string | undefined)[];
  readonly note?: Note;
}): Verdict {
  const { effect, authority, note } = question;
  const { action } = effect;
  const denied = firstMatch({ levels: authority.levels, answer: "deny", effect, note });
  const asked = firstMatch({ levels: authority.levels, answer: "ask", effect, note });
  // To be asked about something is to have it, once the answer is yes.
  const grants = authority.granting.map(
    (levels, index) =>
      firstMatch({ levels, answer: "allow", effect, note })?.id ??
      firstMatch({ levels, answer: "ask", effect })?.id ??
      question.toolGrants[index],
  );
  if (denied !== undefined) {
    const reason = denied.rule.reason ?? `Permission ${action} is denied in the current profile`;
    return { verdict: "deny", rule: denied.id, reason };
  }
  const ungranted = grants.indexOf(undefined);
  if (ungranted !== -1) {
    const id = `profile:${authority.names[ungranted]}/default`;
    const reason = `Permission ${action} is not granted by the current profile`;
    note?.({ rule: id, outcome: "deny", effect: describe(effect), reason });
    return { verdict: "deny", rule: id, reason };
  }
  if (asked !== undefined) {
    const reason = asked.rule.reason ?? `${action} needs approval in the current profile`;
    // A rule may be about many permissions; the answer is about the one that was shown.
    return {
      verdict: "ask",
      rule: asked.id,
      reason,
      grantKeys: [`${asked.level}/${action}`],
      personOnly: true,
    };
  }
  return { verdict: "allow", rule: grants[0] ?? "allowed" };
}

/** Whether every profile grants this by a rule about this permission or tool, not by one about everything. */
export function isNamed(question: Omit<Parameters<typeof judgePermission>[0], "note">): boolean {
  const { effect, authority, toolGrants } = question;
  const { granting } = authority;
  return (
    granting.length > 0 &&
    granting.every(
      (levels, index) =>
        toolGrants[index]?.includes("*") === false ||
        levels.some(({ allow }) => allow.some(({ text }) => text === effect.action)),
    )
  );
}

interface Matched {
  readonly rule: ListedRule;
  readonly level: string;
  readonly id: string;
}

/** The first rule of this kind that is about the effect; without notes nothing after it is looked at. */
function firstMatch(search: {
  readonly levels: readonly Level[];
  readonly answer: Answer;
  readonly effect: Effect;
  readonly note?: Note;
}): Matched | undefined {
  const { levels, answer, effect, note } = search;
  let found: Matched | undefined;
  for (const level of levels) {
    for (const rule of level[answer]) {
      const matched = permissionMatches(rule.text, effect.action);
      note?.({
        rule: `${level.name}/${rule.text}`,
        list: FIELD[answer],
        outcome: matched ? answer : "no match",
        at: rule.origin,
        effect: describe(effect),
        reason: rule.reason,
      });
      if (!matched) continue;
      found ??= { rule, level: level.name, id: `${level.name}/${rule.text}` };
      if (note === undefined) return found;
    }
  }
  return found;
}

/** Whether a permission can never be used under this authority, and the rule that says so. */
export function deniedOutright(
  permission: Effect["action"],
  authority: Authority,
  toolGrants: readonly (string | undefined)[],
): string | undefined {
  const effect: Effect = { action: permission, resource: "*", mode: "read" };
  const verdict = judgePermission({ effect, authority, toolGrants });
  return verdict.verdict === "deny" ? verdict.rule : undefined;
}

export function describe({ action, resource }: Effect): string {
  return `${action} ${resource}`;
}

export interface ToolQuestion {
  readonly tool: { readonly name: string; readonly aliases?: readonly string[] };
  readonly args: Readonly<Record<string, unknown>>;
  readonly authority: Authority;
  readonly note?: Note;
}

export interface ToolJudgement {
  /** Denials and questions. */
  readonly verdicts: readonly Verdict[];
  /** For each profile the rule that grants this tool, if any. */
  readonly grants: readonly (string | undefined)[];
}

const NO_TOOL_RULES: ToolJudgement = { verdicts: [], grants: [] };

/** What rules about this very tool and its arguments say; they hold whatever the call touches. */
export function judgeTool(question: ToolQuestion): ToolJudgement {
  const { tool, authority, note } = question;
  if (!authority.hasToolRules) return NO_TOOL_RULES;
  const verdicts: Verdict[] = [];
  for (const level of authority.levels) {
    for (const rule of level.tools) {
      const id = `${level.name}/tools.${rule.tool}`;
      if (!concerns(rule, tool)) {
        note?.({ rule: id, list: "tools", outcome: "no match", at: rule.origin });
        continue;
      }
      const verdict = answerOf(rule, id, { tool: tool.name, level: level.name });
      if (verdict !== undefined) verdicts.push(verdict);
      if (rule.answer !== undefined)
        note?.({ rule: id, list: "tools", outcome: rule.answer, at: rule.origin, ...reasonOf(rule) });
      verdicts.push(...judgeParameters(rule, level, question));
    }
  }
  return { verdicts, grants: grantsFor(tool, authority) };
}

/** Grants go by the tool's own name: another of its names may be borrowed. */
export function grantsFor(
  tool: ToolQuestion["tool"],
  { granting }: Authority,
): readonly (string | undefined)[] {
  return granting.map((levels) => {
    for (const { name, tools } of levels) {
      const rule = tools.find(
        (each) => (each.answer === "allow" || each.answer === "ask") && wildcardMatches(each.tool, tool.name),
      );
      if (rule !== undefined) return `${name}/tools.${rule.tool}`;
    }
    return undefined;
  });
}

/** The rule that denies the tool as such, whatever its arguments are. */
export function deniedTool(tool: ToolQuestion["tool"], { levels }: Authority): string | undefined {
  for (const { name, tools } of levels) {
    const rule = tools.find((each) => each.answer === "deny" && concerns(each, tool));
    if (rule !== undefined) return `${name}/tools.${rule.tool}`;
  }
  return undefined;
}

/** A tool cannot leave a rule behind by going under another of its names. */
function concerns(rule: ToolRule, tool: ToolQuestion["tool"]): boolean {
  return (
    wildcardMatches(rule.tool, tool.name) ||
    (tool.aliases ?? []).some((alias) => wildcardMatches(rule.tool, alias))
  );
}

function answerOf(
  rule: ToolRule,
  id: string,
  { tool, level }: { readonly tool: string; readonly level: string },
): Verdict | undefined {
  if (rule.answer === "deny") {
    return {
      verdict: "deny",
      rule: id,
      reason: rule.reason ?? `Tool ${tool} is denied in the current profile`,
    };
  }
  if (rule.answer !== "ask") return undefined;
  const reason = rule.reason ?? `${tool} needs approval in the current profile`;
  return { verdict: "ask", rule: id, reason, grantKeys: [`${level}/tools.${tool}`], personOnly: true };
}

function reasonOf({ reason }: ToolRule): { reason?: string } {
  return reason === undefined ? {} : { reason };
}

function judgeParameters(
  rule: ToolRule,
  level: Level,
  { args, note, tool }: ToolQuestion,
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (const parameter of rule.parameters) {
    const id = `${level.name}/tools.${rule.tool}.parameters.${parameter.path.join(".")}`;
    const complaint = complaintAbout(parameter, args);
    const reason = complaint && `${tool.name}: ${parameter.path.join(".")} ${complaint}`;
    note?.({
      rule: id,
      list: "parameters",
      outcome: reason === undefined ? "pass" : "deny",
      at: parameter.origin,
      reason,
    });
    if (reason !== undefined) verdicts.push({ verdict: "deny", rule: id, reason });
  }
  return verdicts;
}

function complaintAbout(rule: ParameterRule, args: Readonly<Record<string, unknown>>): string | undefined {
  const values = valuesAt(args, rule.path);
  if (values.length === 0) return rule.required === true ? "is required here" : undefined;
  for (const value of values) {
    const complaint = complaintAboutValue(rule, value);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

/** Every value behind a path: lists are looked through, what is not there gives none. */
function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => valuesAt(item, path));
  const [name, ...rest] = path;
  if (name === undefined) return value === undefined ? [] : [value];
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
}

function complaintAboutValue(rule: ParameterRule, value: unknown): string | undefined {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  const { allow, deny, pattern, not_pattern, min, max, max_length } = rule;
  if (allow !== undefined && !(isPlain && allow.includes(value)))
    return `may only be ${allow.map((each) => JSON.stringify(each)).join(", ") || "left out"}`;
  if (deny !== undefined && (!isPlain || deny.includes(value))) return "has a value that is denied";
  if (pattern !== undefined && !(isPlain && pattern.test(String(value)))) return "does not fit its pattern";
  // A text too long to be looked through may hold anything.
  if (
    not_pattern !== undefined &&
    (!isPlain || String(value).length > LONGEST || not_pattern.test(String(value)))
  )
    return "fits a pattern that is denied";
  if (max !== undefined && !(typeof value === "number" && value <= max)) return `may be at most ${max}`;
  if (min !== undefined && !(typeof value === "number" && value >= min)) return `must be at least ${min}`;
  if (max_length !== undefined && !(isPlain && String(value).length <= max_length))
    return `may have at most ${max_length} characters`;
  return undefined;
}

const LONGEST = 256 * 1024;

/** The rules that deny every use of a tool; undefined when there is at least one it could be put to. */
export function withheldUnder(tool: OfferedTool, authority: Authority): string | undefined {
  if (authority.isOpen) return undefined;
  const denied = deniedTool(tool, authority);
  if (denied !== undefined) return `denied by ${denied}`;
  if (tool.permissions.length === 0) return undefined;
  const grants = grantsFor(tool, authority);
  const ruleAgainst = (permission: Effect["action"]) => deniedOutright(permission, authority, grants);
  const [needed] = (tool.everyCallNeeds ?? []).flatMap((permission) => ruleAgainst(permission) ?? []);
  if (needed !== undefined) return `denied by ${needed}`;
  const rules = tool.permissions.map(ruleAgainst);
  return rules.includes(undefined) ? undefined : `denied by ${[...new Set(rules)].join(", ")}`;
}
