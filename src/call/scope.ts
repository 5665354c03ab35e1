import type { Environment } from "../env/environment.js";
import type { EventBus } from "../observe/events.js";
import type { Logger } from "../observe/log.js";
import type { AvailabilityCache } from "../registry/availability.js";
import type { Entry } from "../registry/entry.js";
import type { View } from "../registry/view.js";
import type { Decision } from "../tool/call.js";
import type { Effect } from "../tool/effects.js";
import type { CallContext, HostCapabilities, SessionInfo } from "../tool/tool.js";
import type { ResultLimits } from "./bounds.js";
import type { EffectLocks } from "./effect-locks.js";
import type { Guardrails } from "./guardrails.js";
import type { Hooks } from "./hooks.js";
import type { Journal } from "./journal.js";
import type { Spill } from "./spill.js";

/** Where a call came in. Recorded, never a reason to decide differently. */
export type Door =
  | "library"
  | "cli"
  | "http"
  | "mcp"
  | "acp"
  | "script"
  | "bridge"
  | "subagent"
  | "cron"
  | "gateway";

export interface PolicyQuestion {
  readonly entry: Entry;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly session: SessionInfo;
  readonly environment: string;
  readonly home: string;
}

export interface Verdict extends Decision {
  /**
   * What a "session" answer would cover, so that the same question is not asked again: one key for each
   * effect that asks. All of them must be granted before the call passes unasked.
   */
  readonly grantKeys?: readonly string[];
}

/** Judges effects; pure, so that `explain`, dry runs and real calls cannot disagree. */
export interface Policy {
  decide(question: PolicyQuestion): Verdict;
}

export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly rule: string;
  readonly reason: string;
  readonly environment: string;
  readonly session: SessionInfo;
}

export type ApprovalAnswer = "once" | "session" | "deny";

/** Asks a person. No approver at all means deny. */
export interface Approver {
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
}

/** Services shared by every session of a runtime. */
export interface CallServices {
  readonly availability: AvailabilityCache;
  readonly policy: Policy;
  readonly hooks: Hooks;
  readonly locks: EffectLocks;
  readonly journal: Journal;
  readonly spill: Spill;
  readonly limits: ResultLimits;
  readonly events: EventBus;
  readonly log: Logger;
  readonly secrets: { get(name: string): string | undefined };
  redact(text: string): string;
  readonly defaultTimeoutMs: number;
  /** Set when the person asked for a limit (`--timeout`): then it also binds tools with limits of their own. */
  readonly timeoutCeilingMs: number | undefined;
  readonly approvalTimeoutMs: number;
  readonly maxWorkers: number;
  readonly cacheDir: string;
  settingsFor(tool: string): Readonly<Record<string, unknown>>;
  /** Configured result limit of one tool, if any. */
  resultLimitOf(tool: string): number | undefined;
}

/** The authority of one session, handed from stage to stage. */
export interface CallScope {
  /** One object for the whole session, so that tools can keep state by it; the path notes the last tool in it. */
  readonly info: SessionInfo & { previousTool?: string };
  /** Id of the outermost session: subagents and scripts share its locks. */
  readonly rootId: string;
  readonly door: Door;
  readonly view: View;
  readonly environment: Environment;
  /** What `~` means in that environment. */
  readonly home: string;
  readonly host: HostCapabilities;
  readonly approver: Approver | undefined;
  readonly ask: CallContext["ask"];
  /** Approvals the person gave for the rest of the session. */
  readonly grants: Set<string>;
  readonly guardrails: Guardrails;
  /** Calls this scope runs inside of, outermost first. */
  readonly ancestors: readonly string[];
  readonly services: CallServices;
}
