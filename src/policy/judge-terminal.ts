import { isAtOrBelow, isBelow } from "../base/path.js";
import { quoteForShell } from "../base/quote.js";
import { wildcardMatches } from "../base/wildcard.js";
import type { JudgedSegment, PolicyQuestion, Verdict } from "../call/scope.js";
import { judgeCommand, readCommandLine, typedAs } from "../shell/analysis.js";
import type { CommandLine, LineOptions } from "../shell/command-line.js";
import type { CommandVerdict } from "../shell/judge.js";
import type { Effect } from "../tool/effects.js";
import { changedScripts } from "./changed-scripts.js";
import { deniesCommand } from "./profiles/command-rules.js";

/** What the person has approved for good. */
export interface GrantLookup {
  covering(
    segment: JudgedSegment,
    where: {
      readonly cwd: string;
      readonly environment: string;
      readonly environmentKind: PolicyQuestion["environmentKind"];
      readonly command: string;
      /** How often the line goes to another folder, in whatever spelling. */
      readonly moves: number;
      /** What every command of the line comes to. */
      readonly parts: readonly string[];
    },
  ): { readonly id: string } | undefined;
  /** What "always" would write down for these; none when it must not be offered. */
  rememberable?(segments: readonly JudgedSegment[]): readonly string[];
}

export interface TerminalRules {
  readonly hermesHome: string;
  /** Patterns of commands that are never run (`approvals.deny`). */
  readonly denyCommands?: readonly string[];
  readonly allowlist?: GrantLookup;
}

interface TerminalPlace {
  readonly session: {
    readonly cwd: string;
    readonly workspace?: string | undefined;
    readonly startedAt?: number;
  };
  readonly environment: string;
  readonly environmentKind: PolicyQuestion["environmentKind"];
  readonly home: string;
}

/**
 * The hardline floor, the person's own refusals, then danger, of which each part needs a grant or a yes. Undefined
 * when the command is harmless.
 */
export function judgeTerminal(
  effect: Effect,
  place: TerminalPlace,
  rules: TerminalRules,
): Verdict | undefined {
  if (effect.resource === "*") return UNSEEN;
  const typed = effect.typedInto === undefined ? undefined : typedAs(effect.resource, effect.typedInto);
  if (typed !== undefined && !typed.isCommand && !mayBeCommand(typed.text)) return undefined;
  const text = textAfterEarlier(effect, { place, rules }) ?? typed?.text ?? effect.resource;
  const cwd = effect.cwd ?? place.session.cwd;
  const options = lineOptions(effect, place, rules);
  const judged = judgeWhere(text, cwd, options);
  const command = withVariables({ ...effect, resource: text });
  return verdictOn({ line: readCommandLine(text, options), command, cwd, judged, place, rules });
}

/**
 * What was typed before makes harmless text mean more: `remove = shutil.rmtree`, then `remove("src")`. Both together,
 * when that says more than the new text alone; undefined when it does not. What was dangerous before has been answered.
 */
function textAfterEarlier(
  effect: Effect,
  { place, rules }: { readonly place: TerminalPlace; readonly rules: TerminalRules },
): string | undefined {
  const { typedInto, typedBefore, resource } = effect;
  if (typedInto === undefined || typedBefore === undefined) return undefined;
  const options = lineOptions(effect, place, rules);
  const judged = (text: string) => {
    const { text: line, isCommand } = typedAs(text, typedInto);
    return { line, verdict: isCommand ? judgeCommand(line, options).verdict : "safe" };
  };
  if (judged(resource).verdict !== "safe") return undefined;
  let earlier = typedBefore.split("\n");
  while (earlier.length > 0 && judged(earlier.join("\n")).verdict !== "safe")
    earlier = earlier.slice(Math.ceil(earlier.length / 2));
  const together = judged([...earlier, resource].join("\n"));
  return together.verdict === "safe" ? undefined : together.line;
}

/** What the meaning of a line depends on here. */
export function lineOptions(
  { cwd, variables }: Effect,
  { home, session, environmentKind }: Omit<TerminalPlace, "environment">,
  { hermesHome }: TerminalRules,
): LineOptions {
  const since = environmentKind === "local" ? session.startedAt : undefined;
  const files = since === undefined ? undefined : changedScripts({ cwd: cwd ?? session.cwd, home, since });
  return { home, hermesHome, workspace: session.workspace, variables, files };
}

/** Answers to a program's questions are rarely shell text; what cannot even be read as such is not judged as it. */
function mayBeCommand(text: string): boolean {
  return judgeCommand(text).rule !== "hardline.unparseable";
}

/** The line as rules about its text see it: with the values that its variables have by now. */
export function withVariables({ resource, variables = {} }: Effect): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoteForShell(value)}\n`);
  return lines.join("") + resource;
}

/** `rm -rf *` is one thing in a project and another one here. */
const VITAL_FOLDER =
  /^\/(?:$|(?:bin|boot|etc|home|lib\w*|opt|root|sbin|srv|usr|var|Users|System|Library)\/?$|etc\/|boot\/)/;

/** In a folder that must not be lost, relative names are judged as what they stand for there, too. */
function judgeWhere(command: string, cwd: string, options: LineOptions): CommandVerdict {
  const judged = judgeCommand(command, options);
  if (judged.verdict === "hardline" || !namesMatter(command, cwd, options)) return judged;
  const there = judgeCommand(`cd ${quoteForShell(cwd)}\n${command}`, options);
  if (there.verdict === judged.verdict || there.verdict === "safe") return judged;
  return { verdict: there.verdict, rule: there.rule, reason: there.reason, segments: judged.segments };
}

/** Whether relative names can lead from a folder to what must not be lost or loosened. */
function namesMatter(command: string, cwd: string, { home, hermesHome }: LineOptions): boolean {
  if (VITAL_FOLDER.test(cwd) || cwd === home) return true;
  if (hermesHome === undefined) return false;
  if (isAtOrBelow(cwd, hermesHome)) return true;
  // A home of the usual name is recognised by it, from wherever it is reached.
  return !hermesHome.endsWith("/.hermes") && (isBelow(hermesHome, cwd) || command.includes(".."));
}

/** A tool that runs commands without saying which: nobody can judge them beforehand. */
const UNSEEN: Verdict = {
  verdict: "ask",
  rule: "opaque.command",
  reason: "runs commands that it does not name beforehand",
  grantKeys: ["opaque.command"],
  personOnly: true,
};

interface Judged {
  readonly line: CommandLine | undefined;
  /** Its text with the values that its variables have: what grants are compared with. */
  readonly command: string;
  readonly cwd: string;
  readonly judged: CommandVerdict;
  readonly place: TerminalPlace;
  readonly rules: TerminalRules;
}

function verdictOn(given: Judged): Verdict | undefined {
  const { judged, rules } = given;
  if (judged.verdict === "hardline") {
    return { verdict: "deny", rule: judged.rule, reason: `This command is never run: ${judged.reason}` };
  }
  const denied = deniedBy(rules.denyCommands ?? [], given.line);
  if (denied !== undefined) {
    return {
      verdict: "deny",
      rule: `approvals.deny:${denied}`,
      reason: `The command matches "${denied}" in approvals.deny`,
    };
  }
  return judged.verdict === "danger" ? askUnlessGranted(given) : undefined;
}

function deniedBy(patterns: readonly string[], line: CommandLine | undefined): string | undefined {
  if (line === undefined) return undefined;
  const whole = line.text.trim().toLowerCase();
  return patterns.find(
    (pattern) => wildcardMatches(pattern.toLowerCase(), whole) || deniesCommand(pattern, line),
  );
}

function askUnlessGranted({ command, cwd, judged, place, rules }: Judged): Verdict {
  const { rule, reason } = judged;
  const whole: JudgedSegment = { text: command, canonical: command.trim(), verdict: "danger", rule, reason };
  const found = judged.segments.filter(({ verdict }) => verdict !== "safe");
  // What is wrong with the line as a whole is not covered by a grant for one of its parts.
  const dangerous = found.some((segment) => segment.rule === rule) ? found : [...found, whole];
  const parts = judged.segments.map(({ canonical }) => canonical);
  const moves = parts.filter((part) => CHANGES_FOLDER.test(part)).length;
  const { environment, environmentKind } = place;
  const where = { cwd, environment, environmentKind, command, moves, parts };
  const grants = dangerous.map((segment) => rules.allowlist?.covering(segment, where));
  const uncovered = dangerous.filter((_, index) => grants[index] === undefined);
  const [first] = uncovered;
  if (first === undefined) {
    const ids = grants.flatMap((grant) => grant?.id ?? []);
    const used = rules.allowlist === undefined ? {} : { grantsUsed: ids };
    const grantKeys = [...new Set(dangerous.map((segment) => segment.rule))];
    return { verdict: "allow", rule: `command_allowlist:${ids[0] ?? ""}`, grantKeys, ...used };
  }
  const remember = rules.allowlist?.rememberable?.(uncovered) ?? uncovered.map(({ canonical }) => canonical);
  const ids = grants.flatMap((grant) => grant?.id ?? []);
  return {
    grantsUsed: rules.allowlist !== undefined && ids.length > 0 ? ids : undefined,
    verdict: "ask",
    rule: first.rule,
    reason: [...new Set(uncovered.map((segment) => segment.reason))].join("; "),
    grantKeys: [...new Set(uncovered.map((segment) => segment.rule))],
    segments: judged.segments.length > 0 ? judged.segments : [whole],
    remember: remember.length > 0 ? remember : undefined,
  };
}

const CHANGES_FOLDER = /^(?:\w+ )?(?:cd|chdir|pushd|popd)(?: |$)/;
