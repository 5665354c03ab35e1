import { quoteForShell } from "../base/quote.js";
import { wildcardMatches } from "../base/wildcard.js";
import type { JudgedSegment, Verdict } from "../call/scope.js";
import { judgeCommand } from "../shell/analysis.js";
import type { CommandVerdict } from "../shell/judge.js";
import type { Effect } from "../tool/effects.js";
import { readCommandLine } from "./profiles/command-line.js";
import { deniesCommand } from "./profiles/command-rules.js";
import { typedAs } from "./typed-input.js";

/** What the person has approved for good. */
export interface GrantLookup {
  covering(
    segment: JudgedSegment,
    where: {
      readonly cwd: string;
      readonly environment: string;
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

export interface TerminalJudgement {
  /** Nothing when the command is harmless. */
  readonly verdict: Verdict | undefined;
  readonly segments?: readonly JudgedSegment[];
}

interface TerminalPlace {
  readonly session: { readonly cwd: string };
  readonly environment: string;
  readonly home: string;
}

/** The hardline floor, the person's own refusals, then danger, of which each part needs a grant or a yes. */
export function judgeTerminal(effect: Effect, place: TerminalPlace, rules: TerminalRules): TerminalJudgement {
  if (effect.resource === "*") return { verdict: UNSEEN };
  const typed = effect.typedInto === undefined ? undefined : typedAs(effect.resource, effect.typedInto);
  if (typed !== undefined && !typed.isCommand && !mayBeCommand(typed.text)) return { verdict: undefined };
  const command = typed?.text ?? effect.resource;
  const cwd = effect.cwd ?? place.session.cwd;
  const { variables } = effect;
  const judged = judgeWhere(command, { cwd, home: place.home, hermesHome: rules.hermesHome, variables });
  const written = withVariables({ ...effect, resource: command });
  const verdict = verdictOn({ command: written, cwd, judged, place, rules });
  return { verdict, segments: judged.segments };
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
function judgeWhere(
  command: string,
  {
    cwd,
    ...options
  }: {
    readonly cwd: string;
    readonly home: string;
    readonly hermesHome: string;
    readonly variables: Effect["variables"];
  },
): CommandVerdict {
  const judged = judgeCommand(command, options);
  if (judged.verdict === "hardline" || (!VITAL_FOLDER.test(cwd) && cwd !== options.home)) return judged;
  const there = judgeCommand(`cd ${quoteForShell(cwd)}\n${command}`, options);
  if (there.verdict === judged.verdict || there.verdict === "safe") return judged;
  return { verdict: there.verdict, rule: there.rule, reason: there.reason, segments: judged.segments };
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
  readonly command: string;
  readonly cwd: string;
  readonly judged: CommandVerdict;
  readonly place: TerminalPlace;
  readonly rules: TerminalRules;
}

function verdictOn(line: Judged): Verdict | undefined {
  const { judged, rules } = line;
  if (judged.verdict === "hardline") {
    return { verdict: "deny", rule: judged.rule, reason: `This command is never run: ${judged.reason}` };
  }
  const denied = deniedBy(rules.denyCommands ?? [], line);
  if (denied !== undefined) {
    return {
      verdict: "deny",
      rule: `approvals.deny:${denied}`,
      reason: `The command matches "${denied}" in approvals.deny`,
    };
  }
  return judged.verdict === "danger" ? askUnlessGranted(line) : undefined;
}

function deniedBy(patterns: readonly string[], { command, judged, place }: Judged): string | undefined {
  if (patterns.length === 0) return undefined;
  const line = readCommandLine(command, { segments: judged.segments, home: place.home });
  const whole = command.trim().toLowerCase();
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
  const where = { cwd, environment: place.environment, command, moves, parts };
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
    ...(rules.allowlist !== undefined && ids.length > 0 && { grantsUsed: ids }),
    verdict: "ask",
    rule: first.rule,
    reason: [...new Set(uncovered.map((segment) => segment.reason))].join("; "),
    grantKeys: [...new Set(uncovered.map((segment) => segment.rule))],
    segments: judged.segments.length > 0 ? judged.segments : [whole],
    ...(remember.length > 0 && { remember }),
  };
}

const CHANGES_FOLDER = /^(?:\w+ )?(?:cd|chdir|pushd|popd)(?: |$)/;
