import { wildcardMatches } from "../../base/wildcard.js";
import type { Verdict } from "../../call/scope.js";
import type { Authority } from "./permission-table.js";
import type { Note } from "./trace.js";
import type { Level, ParameterRule, ToolRule } from "./types.js";

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
      ...(reason !== undefined && { reason }),
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
