import { resolve } from "node:path";
import type { Policy, PolicyQuestion, Verdict } from "../call/scope.js";
import type { NetworkRules } from "../net/urls.js";
import { loadAnalysis, readCommandLine } from "../shell/analysis.js";
import type { Effect } from "../tool/effects.js";
import type { SessionInfo } from "../tool/tool.js";
import { type FileRules, judgeFile } from "./judge-file.js";
import { judgeTerminal, lineOptions, type TerminalRules, withVariables } from "./judge-terminal.js";
import { fetchesUrl, judgeUrlEffect, loadUrlRules } from "./judge-url.js";
import {
  describe,
  isNamed,
  judgePermission,
  judgeTool,
  withheldUnder,
} from "./profiles/judge-permissions.js";
import { judgeRestrictions } from "./profiles/judge-restrictions.js";
import type { OfferedTool } from "./profiles/permission-files.js";
import { type Authority, PermissionTable } from "./profiles/permission-table.js";
import type { Note, TraceStep } from "./profiles/types.js";
import { strictest } from "./strictest.js";

export interface PolicyOptions extends TerminalRules, FileRules {
  readonly hermesHome: string;
  /** Profiles and rules; the built-in ones when left out. */
  readonly permissions?: PermissionTable;
  /** Turns every "ask" into "allow"; the hardline floor and denials stay. */
  readonly yolo?: boolean;
  /** Set when written rules could not be read: then only reading is allowed. */
  readonly readOnly?: boolean;
  /** Which addresses are closed; none when left out. */
  readonly network?: NetworkRules;
}

/** What the engine reads of a question; a replayed call has no more than this. */
export type RulesQuestion = Omit<PolicyQuestion, "entry"> & {
  readonly entry: { readonly name: string; readonly aliases?: readonly string[] };
};

export interface Explanation {
  readonly decision: Verdict;
  /** Every rule that was looked at, in order. */
  readonly trace: readonly TraceStep[];
}

export interface PermissionPolicy extends Policy {
  decide(question: RulesQuestion): Verdict;
  /** The same decision with every rule that was looked at. */
  explainDecision(question: RulesQuestion): Explanation;
  /** False when everything this tool could do is denied: then a model need not see it. */
  offers(tool: OfferedTool, session: Pick<SessionInfo, "profile">): boolean;
  /** Why a tool is not offered. */
  withheld(tool: OfferedTool, session: Pick<SessionInfo, "profile">): string | undefined;
}

const NOTHING_TOUCHED: Verdict = { verdict: "allow", rule: "no-effects" };

/**
 * The strictest verdict over the tool and all effects of a call. Refused: what is malformed, the hardline floor,
 * what the rules deny. Asked: protected places, what the rules want asked, danger that no grant covers.
 */
export function createPolicy(options: PolicyOptions): PermissionPolicy {
  const permissions = options.permissions ?? new PermissionTable({});
  const decide = (question: RulesQuestion, note?: Note): Verdict => {
    const decided = decideWith({ question, options, permissions, note });
    if (decided.verdict !== "ask" || options.yolo !== true) return decided;
    note?.({ rule: "yolo", outcome: "allow", reason: "questions are answered with yes" });
    return { verdict: "allow", rule: `yolo:${decided.rule}` };
  };
  const withheld: PermissionPolicy["withheld"] = (tool, session) => {
    const authority = permissions.authorityOf(session.profile);
    return authority === undefined ? undefined : withheldUnder(tool, authority);
  };
  return {
    ready: (effects) => {
      const needed = [
        ...(effects.some(runsCommand) ? [loadAnalysis()] : []),
        ...(options.network !== undefined && effects.some(fetchesUrl) ? [loadUrlRules()] : []),
      ];
      return needed.length === 0 ? undefined : Promise.all(needed).then(() => undefined);
    },
    decide: (question) => decide(question),
    explainDecision(question) {
      const trace: TraceStep[] = [];
      return { decision: decide(question, (step) => void trace.push(step)), trace };
    },
    withheld,
    offers: (tool, session) => withheld(tool, session) === undefined,
  };
}

interface Deciding {
  readonly question: RulesQuestion;
  readonly options: PolicyOptions;
  readonly permissions: PermissionTable;
  readonly note?: Note | undefined;
}

function decideWith(deciding: Deciding): Verdict {
  const { question, permissions, note } = deciding;
  const { session, entry, args, effects } = question;
  if (permissions.broken !== undefined && effects.length > 0) {
    note?.({ rule: "permissions:broken", outcome: "deny", reason: permissions.broken });
    return { verdict: "deny", rule: "permissions:broken", reason: permissions.broken };
  }
  const authority = permissions.authorityOf(session.profile);
  if (authority === undefined) {
    const reason = `permission profile ${session.profile} does not exist`;
    return { verdict: "deny", rule: "profile:unknown", reason };
  }
  const byTool = judgeTool({ tool: entry, args, authority, note });
  if (effects.length === 0 && byTool.verdicts.length === 0) return NOTHING_TOUCHED;
  const verdicts = effects.map((effect) =>
    judgeEffect({ ...deciding, effect, authority, toolGrants: byTool.grants }),
  );
  return strictest([...byTool.verdicts, ...(verdicts.length === 0 ? [NOTHING_TOUCHED] : verdicts)]);
}

interface EffectDeciding extends Deciding {
  readonly effect: Effect;
  readonly authority: Authority;
  readonly toolGrants: readonly (string | undefined)[];
}

function judgeEffect(deciding: EffectDeciding): Verdict {
  const { effect, question, options, authority, note } = deciding;
  const { home } = question;
  const tell = (verdict: Verdict | undefined): readonly Verdict[] => {
    if (verdict === undefined) return [];
    const { rule, verdict: outcome, reason } = verdict;
    note?.({ rule, outcome, effect: describe(effect), reason });
    return [verdict];
  };
  if (options.readOnly === true && effect.mode !== "read") {
    const reason =
      "A rule in the configuration could not be read, so only reading is allowed until it is mended";
    return tell({ verdict: "deny", rule: "config:broken", reason })[0] as Verdict;
  }
  const isLocal = question.environmentKind === "local";
  const isCommand = runsCommand(effect);
  const terminal = isCommand ? judgeTerminal(effect, question, options) : undefined;
  const hardline = terminal?.verdict === "deny" ? tell(terminal) : [];
  const byPermission = judgePermission({ effect, authority, toolGrants: deciding.toolGrants, note });
  const restricted = judgeRestrictions({
    effect: isCommand ? { ...effect, resource: withVariables(effect) } : effect,
    authority,
    args: question.args,
    cwd: question.session.cwd,
    home,
    environment: question.environment,
    isLocal,
    line: isCommand ? readCommandLine(effect.resource, lineOptions(effect, question, options)) : undefined,
    note,
  });
  const written = isCommand ? judgeWritten(deciding) : [];
  const isPlace = effect.action.startsWith("file:") && effect.resource !== "*";
  const danger = hardline.length === 0 ? tell(terminal) : [];
  // The first of the strictest names the rule that decided, so the order is the order of the decision.
  return strictest([
    ...hardline,
    ...(options.network !== undefined && fetchesUrl(effect)
      ? tell(judgeUrlEffect(effect, options.network))
      : []),
    ...(byPermission.verdict === "deny" ? [byPermission] : []),
    ...restricted.verdicts,
    ...written,
    ...(isPlace ? tell(judgeFile({ ...question, effect, isLocal, opened: restricted.opened }, options)) : []),
    ...danger.filter(({ verdict }) => verdict === "allow"),
    byPermission,
    ...(effect.action === "sandbox:widen" ? tell(widening(effect)) : []),
    ...(effect.ask === undefined || isNamedYes(deciding) ? [] : tell(askedByTool(effect, effect.ask))),
    ...danger,
  ]);
}

const NO_FILE = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|fd\/.*|(?:tcp|udp)\/.*)$/;

/** What the rules about files say of those a command writes: a redirection is no way around them. */
function judgeWritten({ effect, question, options, authority, note }: EffectDeciding): readonly Verdict[] {
  const limits = (name: string): boolean => name === "*" || name.startsWith("file:");
  const isLimited = authority.levels.some(({ restrictions }) =>
    restrictions.some(
      ({ permission, denied_paths, allowed_paths }) =>
        limits(permission) && (denied_paths !== undefined || allowed_paths !== undefined),
    ),
  );
  const line = isLimited
    ? readCommandLine(effect.resource, lineOptions(effect, question, options))
    : undefined;
  const { home, session, environment, environmentKind } = question;
  const cwd = effect.cwd ?? session.cwd;
  return (line?.writes ?? []).flatMap((path) => {
    const resource = resolve(cwd, path.replace(/^~(?=\/|$)/, home));
    if (NO_FILE.test(resource)) return [];
    const write: Effect = { action: "file:write", resource, mode: "write" };
    const isLocal = environmentKind === "local";
    const asked = { effect: write, authority, args: question.args, cwd, home, environment, isLocal, note };
    return judgeRestrictions(asked).verdicts;
  });
}

function runsCommand(effect: Effect): boolean {
  return effect.action === "terminal:execute";
}

/** The network or one place may be granted for a session. Leaving the sandbox is asked about each time. */
function widening(effect: Effect): Verdict {
  const detail = effect.detail === undefined ? "" : `; ${effect.detail}`;
  const reason = `would run with fewer limits: ${effect.resource}${detail}`;
  const grantKeys = effect.resource === "off" ? [] : [`sandbox.widen:${effect.resource}`];
  return { verdict: "ask", rule: "sandbox.widen", reason, grantKeys, personOnly: true };
}

/** Who wrote the permission or the tool into the rules has answered what is asked `unlessNamed`. */
function isNamedYes({ effect, authority, toolGrants }: EffectDeciding): boolean {
  return effect.ask?.unlessNamed === true && isNamed({ effect, authority, toolGrants });
}

/** The tool itself says that this call wants a person: a changed definition, a thing that cannot be undone. */
function askedByTool(effect: Effect, { reason, key }: NonNullable<Effect["ask"]>): Verdict {
  const grantKeys = key === undefined ? [] : [`tool.asks:${effect.action}:${key}`];
  return { verdict: "ask", rule: "tool.asks", reason, grantKeys, personOnly: true };
}
