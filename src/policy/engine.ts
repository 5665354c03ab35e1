import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Policy, PolicyQuestion, Verdict } from "../call/scope.js";
import type { Effect } from "../tool/effects.js";
import { PROFILES, type Profile, permissionMatches } from "./profiles.js";
import { isWithin, protectedRead, protectedWrite } from "./protected-paths.js";
import { realPathOf } from "./real-path.js";
import { type CommandVerdict, judgeCommand } from "./shell/judge.js";

export interface PolicyOptions {
  readonly hermesHome: string;
  /** Turns every "ask" into "allow"; the hardline floor and denials stay. */
  readonly yolo?: boolean;
  /** Globs of commands that are never run (`approvals.deny`). */
  readonly denyCommands?: readonly string[];
  /** Commands, globs or kinds of danger the person has approved for good (`command_allowlist`). */
  readonly allowCommands?: readonly string[];
  /** Set when written rules could not be read: then only reading is allowed. */
  readonly readOnly?: boolean;
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
const NOTHING_TOUCHED: Verdict = { verdict: "allow", rule: "no-effects" };

/** The strictest verdict over all effects of a call: hardline floor, then the profile, then danger. */
export function createPolicy(options: PolicyOptions): Policy {
  return {
    decide(question) {
      if (question.effects.length === 0) return judgePermissions(question);
      const verdicts = question.effects.map((effect) => judgeEffect(effect, question, options));
      const decided = strictest(verdicts);
      if (decided.verdict === "ask" && options.yolo === true) {
        return { verdict: "allow", rule: `yolo:${decided.rule}` };
      }
      return decided;
    },
  };
}

/** A denial as it is; questions together, so that a yes to one of them does not cover the others. */
function strictest(verdicts: readonly Verdict[]): Verdict {
  const denied = verdicts.find((verdict) => verdict.verdict === "deny");
  if (denied !== undefined) return denied;
  const asks = verdicts.filter((verdict) => verdict.verdict === "ask");
  const [first] = asks;
  if (first === undefined) return verdicts[0] ?? NOTHING_TOUCHED;
  return {
    ...first,
    reason: [...new Set(asks.map((ask) => ask.reason ?? ask.rule))].join("; "),
    grantKeys: [...new Set(asks.flatMap((ask) => ask.grantKeys ?? []))],
  };
}

/** A call without effects still needs a known profile. */
function judgePermissions(question: PolicyQuestion): Verdict {
  return PROFILES.has(question.session.profile) ? NOTHING_TOUCHED : unknownProfile(question.session.profile);
}

function unknownProfile(name: string): Verdict {
  return { verdict: "deny", rule: "profile:unknown", reason: `permission profile ${name} does not exist` };
}

function judgeEffect(effect: Effect, question: PolicyQuestion, options: PolicyOptions): Verdict {
  if (options.readOnly === true && effect.mode !== "read") {
    return {
      verdict: "deny",
      rule: "config:broken",
      reason: "A rule in the configuration could not be read, so only reading is allowed until it is mended",
    };
  }
  const profile = PROFILES.get(question.session.profile);
  if (profile === undefined) return unknownProfile(question.session.profile);
  const byProfile = judgeByProfile(effect, profile);
  if (byProfile.verdict === "deny") return byProfile;
  const byDanger =
    effect.action === "terminal:execute"
      ? judgeTerminal(effect, options)
      : effect.action.startsWith("file:")
        ? judgeFile(effect, question, options)
        : undefined;
  return byDanger === undefined || STRICTNESS[byProfile.verdict] > STRICTNESS[byDanger.verdict]
    ? byProfile
    : byDanger;
}

function judgeByProfile(effect: Effect, profile: Profile): Verdict {
  const matching = (rules: readonly string[]) => rules.find((rule) => permissionMatches(rule, effect.action));
  const at = (rule: string) => `profile:${profile.name}/${rule}`;
  const denied = matching(profile.deny);
  if (denied !== undefined) {
    return {
      verdict: "deny",
      rule: at(denied),
      reason: `Permission ${effect.action} is denied in the current profile`,
    };
  }
  const asked = matching(profile.ask);
  if (asked !== undefined) {
    return {
      verdict: "ask",
      rule: at(asked),
      reason: `${effect.action} needs approval in the current profile`,
      grantKeys: [at(asked)],
    };
  }
  const allowed = matching(profile.allow);
  if (allowed !== undefined) return { verdict: "allow", rule: at(allowed) };
  return {
    verdict: "deny",
    rule: at("default"),
    reason: `Permission ${effect.action} is not granted by the current profile`,
  };
}

function judgeTerminal(effect: Effect, options: PolicyOptions): Verdict | undefined {
  const judged = judgeCommand(effect.resource);
  if (judged.verdict === "hardline") {
    return { verdict: "deny", rule: judged.rule, reason: `This command is never run: ${judged.reason}` };
  }
  const denied = (options.denyCommands ?? []).find((glob) => globMatches(glob, effect.resource));
  if (denied !== undefined) {
    return {
      verdict: "deny",
      rule: `approvals.deny:${denied}`,
      reason: `The command matches "${denied}" in approvals.deny`,
    };
  }
  if (judged.verdict !== "danger") return undefined;
  const approved = (options.allowCommands ?? []).find((entry) => isApproved(entry, judged, effect.resource));
  if (approved !== undefined) return { verdict: "allow", rule: `command_allowlist:${approved}` };
  return { verdict: "ask", rule: judged.rule, reason: judged.reason, grantKeys: [judged.rule] };
}

/** More than one command in a line, or a redirection: only an entry with exactly this text covers it. */
const COMPOUND = /[;&|<>`\n]|\$\(/;

function isApproved(entry: string, judged: CommandVerdict, command: string): boolean {
  if (entry === judged.rule || entry === judged.reason || entry === command.trim()) return true;
  return /[*?]/.test(entry) && !COMPOUND.test(command) && globMatches(entry, command);
}

function judgeFile(effect: Effect, question: PolicyQuestion, options: PolicyOptions): Verdict | undefined {
  if (effect.resource === "*") return undefined;
  const path = realPathOf(effect.resource);
  const places = { hermesHome: realPathOf(options.hermesHome), home: realPathOf(question.home) };
  if (effect.mode === "read") {
    const why = protectedRead(path, places);
    return why === undefined ? undefined : ask("file.read-secret", `reads ${why}: ${path}`, path);
  }
  const why = protectedWrite(path, places);
  if (why !== undefined) return ask("file.write-protected", `writes ${why}: ${path}`, path);
  const workspace = realPathOf(question.session.cwd);
  if (isWithin(path, workspace) || isWithin(path, realPathOf(tmpdir()))) return undefined;
  return ask("file.write-outside", `writes outside the working folder ${workspace}: ${path}`, dirname(path));
}

function ask(rule: string, reason: string, scope: string): Verdict {
  return { verdict: "ask", rule, reason, grantKeys: [`${rule}:${scope}`] };
}

function globMatches(glob: string, command: string): boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, "[\\s\\S]*")
    .replace(/\?/g, "[\\s\\S]");
  return new RegExp(`^${source}$`, "i").test(command.trim());
}
