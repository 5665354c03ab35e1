import type { Socket } from "node:net";
import type { ScheduledJobs } from "../cron/types.js";
import type { Environment } from "../env/environment.js";
import type { ProcessNotice, SessionProcesses } from "../env/processes/types.js";
import type { TaskState } from "../env/task.js";
import type { ModelUsage } from "../model/model-client.js";
import type { EventBus } from "../observe/events.js";
import type { Logger } from "../observe/log.js";
import type { Vocabulary } from "../registry/aliases.js";
import type { AvailabilityCache, Status } from "../registry/availability.js";
import type { Entry } from "../registry/entry.js";
import type { Found, View } from "../registry/view.js";
import type { Decision, IncomingCall } from "../tool/call.js";
import type { Effect } from "../tool/effects.js";
import type { Failure } from "../tool/errors.js";
import type { ConnectRequest, FetchResponse, NameAnswer, NameQuestion, NetworkProxy } from "../tool/fetch.js";
import type { HostCapabilities } from "../tool/host-capabilities.js";
import type {
  CallContext,
  NestedTools,
  NestedToolsOptions,
  SecretAccess,
  SessionInfo,
} from "../tool/tool.js";
import type { ResultLimits } from "./bounds.js";
import type { CallRecord } from "./call-record.js";
import type { HandlerContext } from "./context.js";
import type { EffectLocks } from "./effect-locks.js";
import type { CallFetch, CallProxy } from "./fetch-in-call.js";
import type { FileChanges } from "./file-changes.js";
import type { Guardrails } from "./guardrails.js";
import type { Hooks } from "./hooks.js";
import type { Journal } from "./journal.js";
import type { SessionState } from "./session-state.js";
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
  | "gateway"
  | "cluster";

export interface PolicyQuestion {
  readonly entry: Entry;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly session: SessionInfo;
  /** Its name. */
  readonly environment: string;
  /** `local`: paths are this machine's and can be looked at. */
  readonly environmentKind: Environment["kind"];
  readonly home: string;
}

/** A part of a call that was judged on its own: each command of a command line, each file, each address. */
export interface JudgedSegment {
  /** As it was written. */
  readonly text: string;
  /** What it comes to once wrappers, quoting and spelling are undone; grants are compared by it. */
  readonly canonical: string;
  readonly verdict: "safe" | "danger" | "hardline";
  readonly rule: string;
  readonly reason: string;
  /** Where it stands in the text that was judged. */
  readonly span?: readonly [number, number];
}

export interface Verdict extends Decision {
  /**
   * What a "session" answer would cover, so that the same question is not asked again: one key for each
   * effect that asks. All of them must be granted before the call passes unasked.
   */
  readonly grantKeys?: readonly string[];
  /** The parts with their own verdicts, for whoever is asked. */
  readonly segments?: readonly JudgedSegment[];
  /** What "always" would write down, literally; nothing means that "always" is not offered. */
  readonly remember?: readonly string[] | undefined;
  /** True when only a person may say yes, never a reviewer model. */
  readonly personOnly?: boolean;
  /** Permanent grants that this decision rests on. */
  readonly grantsUsed?: readonly string[] | undefined;
}

/** Judges effects; pure, so that `explain`, dry runs and real calls cannot disagree. */
export interface Policy {
  decide(question: PolicyQuestion): Verdict;
  /** Resolves when everything is loaded that judging these effects needs; undefined when it is. */
  ready?(effects: readonly Effect[]): Promise<void> | undefined;
}

export interface ApprovalRequest {
  /** Names this one question; an answer counts only for the id it was given to. */
  readonly id: string;
  /** Hash of tool, canonical arguments and environment: what is approved is exactly what runs. */
  readonly hash: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly rule: string;
  readonly reason: string;
  readonly environment: string;
  readonly environmentKind: Environment["kind"];
  readonly session: SessionInfo;
  /** The one its call belongs to, where there is one. */
  readonly conversation?: string | undefined;
  readonly door: Door;
  readonly segments: readonly JudgedSegment[];
  /** What "session" would cover. */
  readonly sessionKeys: readonly string[];
  /** What "always" would write down; empty when it is not offered. */
  readonly remember: readonly string[];
  /** Milliseconds since 1970; no answer by then is a denial. */
  readonly expiresAt: number;
  /** What a reviewer model said when it passed the question on. */
  readonly review?: string;
}

export type ApprovalAnswer = "once" | "session" | "always" | "deny";

export interface ApprovalReply {
  readonly answer: ApprovalAnswer;
  /** Who answered, for the record. */
  readonly by?: string | undefined;
  /** Told to the model after a denial. */
  readonly reason?: string | undefined;
  /** With "always": remember the kind of danger instead of this very command. */
  readonly widen?: boolean | undefined;
}

/** Asks a person. No approver at all means deny. */
export interface Approver {
  /** Whether anybody can be asked at this moment; left out, somebody always can. */
  isThere?(): boolean | Promise<boolean>;
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer | ApprovalReply>;
}

export interface Review {
  readonly decision: "approve" | "deny" | "escalate";
  readonly reason: string;
  /** The model that said so, and what it took. */
  readonly model?: string | undefined;
  readonly usage?: ModelUsage | undefined;
}

/** A model that may answer in a person's place; whatever goes wrong with it means "escalate". */
export interface Reviewer {
  review(request: ApprovalRequest, signal: AbortSignal): Promise<Review>;
}

/** What the person has approved for good. */
export interface PermanentGrants {
  /** Resolves when it is on disk. */
  remember(entries: readonly string[], request: ApprovalRequest): Promise<void>;
  countUse(ids: readonly string[]): void;
}

/** Tells others where calls stand in a trace. Present only where somebody collects them. */
export interface CallTracer {
  /** The `traceparent` for what the call asks others. */
  begin(call: CallRecord): string;
  end(call: CallRecord): void;
}

/** Runs the handlers of calls on other machines. The rest of the path stays where the session is. */
export interface CallPlace {
  /** Whether a tool that runs there can run now; undefined for one that runs here. */
  statusOf(entry: Entry): Status | undefined;
  /** What the handler gives; undefined when the call runs here. */
  run(call: CallRecord, context: HandlerContext): Promise<unknown> | undefined;
  /** What came up about the session's background programs there. */
  takeNotices(session: string): readonly ProcessNotice[];
  /** Before its first call: a conversation may go on where another machine left it. */
  beginSession(scope: CallScope): Promise<void>;
  endSession(session: string): void;
}

/** Who is told of calls. */
export type CallEvents = Pick<EventBus, "wants" | "emit">;

/** Services shared by every session of a runtime. */
export interface CallServices {
  readonly availability: AvailabilityCache;
  readonly policy: Policy;
  readonly hooks: Hooks;
  readonly locks: EffectLocks;
  readonly journal: Journal;
  readonly jobs: ScheduledJobs;
  /** What files held before calls changed them; absent when that is switched off. */
  readonly fileChanges?: FileChanges | undefined;
  readonly spill: Spill;
  readonly limits: ResultLimits;
  readonly events: CallEvents;
  readonly tracer?: CallTracer | undefined;
  /** Present where calls run on other machines. */
  readonly place?: CallPlace | undefined;
  readonly log: Logger;
  readonly secrets: SecretAccess;
  redact(text: string): string;
  /** Whether a path lies in a folder that the person trusts; nothing does when left out. */
  trusts?(path: string): boolean;
  readonly defaultTimeoutMs: number;
  /** Set when the person chose a limit (`tools.timeout_seconds`): it also binds tools with limits of their own. */
  readonly timeoutCeilingMs: number | undefined;
  readonly approvalTimeoutMs: number;
  /** Which spelling of tool names a model is shown. */
  readonly vocabulary?: Vocabulary | undefined;
  /** Present when `approvals.mode` is smart and a reviewer is configured. */
  readonly reviewer?: Reviewer | undefined;
  readonly permanentGrants?: PermanentGrants | undefined;
  readonly maxWorkers: number;
  readonly cacheDir: string;
  /** The guarded client of the network. */
  fetch(request: CallFetch): Promise<FetchResponse>;
  connect(request: ConnectRequest): Promise<Socket>;
  openProxy(request: CallProxy): Promise<NetworkProxy>;
  lookUp(question: NameQuestion): Promise<NameAnswer>;
  /** Loads a library that is not part of every installation. */
  loadPackage(name: string): Promise<unknown>;
  /** Where one lies. */
  packageFolder(name: string): string;
  settingsFor(tool: string): Readonly<Record<string, unknown>>;
  /** Configured result limit of one tool, if any. */
  resultLimitOf(tool: string): number | undefined;
}

/**
 * Stand-ins for tools a model is not told about one by one. They open no second door: what is called through them
 * is looked up in the session's view and walks the path under its own name.
 */
export interface Bridge {
  /** A stand-in of this name. */
  find(name: string): Found | undefined;
  /** The call that is meant by calling a stand-in; undefined for every other call. */
  unwrap(request: IncomingCall): IncomingCall | Failure | undefined;
}

/** The authority of one session, handed from stage to stage. */
export interface CallScope {
  /** One object for the whole session, so that tools can keep state by it; the path notes the last tool in it. */
  readonly info: SessionInfo & { previousTool?: string };
  /** Id of the outermost session: subagents and scripts share its locks. */
  readonly rootId: string;
  /** The conversation its calls belong to, and those that one was begun from, outermost first. */
  readonly conversations: readonly string[];
  readonly door: Door;
  /** The model that makes the calls, where one does. */
  readonly model?: string | undefined;
  /** What a machine must be called to run its calls, where they run on others. */
  readonly labels?: readonly string[] | undefined;
  readonly view: View;
  /** Present where tools can be found by searching. */
  readonly bridge?: Bridge | undefined;
  readonly environment: Environment;
  /** Where the session's commands stand and what they have exported. */
  readonly task: TaskState;
  readonly processes: SessionProcesses;
  /** What `~` means in that environment. */
  readonly home: string;
  readonly host: HostCapabilities;
  readonly approver: Approver | undefined;
  readonly ask: CallContext["ask"];
  /** Approvals the person gave for the rest of the session. */
  readonly grants: Set<string>;
  /** How often the reviewer model has said no since the person last spoke. */
  readonly reviews: { denials: number };
  readonly guardrails: Guardrails;
  readonly state: SessionState;
  /** Tools for a call of this session that calls others. */
  openTools(options: NestedToolsOptions & { readonly insideCall: string }): NestedTools;
  /** True when a program gets the results, not a model: they are then as long as they are. */
  readonly forProgram?: boolean | undefined;
  /** Set while a call of another scope waits for the calls of this one: waits for a person stop its clock. */
  readonly onWaiting?: ((waiting: boolean) => void) | undefined;
  /** Calls this scope runs inside of, outermost first. */
  readonly ancestors: readonly string[];
  readonly services: CallServices;
}
