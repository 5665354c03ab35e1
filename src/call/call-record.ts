import type { ModelUsage } from "../model/model-client.js";
import type { Entry } from "../registry/entry.js";
import type { CallResult, CallState, Decision, IncomingCall } from "../tool/call.js";
import { type Content, textOf } from "../tool/content.js";
import type { Effect } from "../tool/effects.js";
import type { Failure } from "../tool/errors.js";
import type { BilledPurpose } from "../tool/host-capabilities.js";
import { ignoreRejection } from "../tool/thrown.js";
import type { AnyTool, Progress } from "../tool/tool.js";
import type { EffectKey } from "./effect-keys.js";
import type { Release } from "./effect-locks.js";
import type { CallUsage, JournalEntry } from "./journal.js";
import type { CallScope, Verdict } from "./scope.js";

const NOTHING: readonly never[] = [];
const NO_USAGE: CallUsage = { input: 0, cached: 0, cacheWrite: 0, output: 0 };
/** A script that reads a thousand pages need not name each of them. */
const UNTRUSTED_NAMED = 10;

/** What whoever makes a call may bring along. */
export interface RunOptions {
  /** Interrupts the call. */
  readonly signal?: AbortSignal | undefined;
  /** Where whoever asks for the call stands in a trace (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Told what the call says of its progress, secrets masked; `callId` tells the calls of a batch apart. */
  readonly onProgress?: ((progress: Progress, callId: string) => void) | undefined;
  /**
   * Told of each result of a batch as it comes, and waited for. What the batch answers in the end may be shorter, where
   * all results together are too long for one message.
   */
  readonly onResult?: ((result: CallResult) => void | Promise<void>) | undefined;
}

export interface WalkOptions extends RunOptions {
  /** Whoever asks has the call on disk, and will write down how it ended: its row here need not be waited for. */
  readonly isKept?: boolean | undefined;
}

/** One call on its way. Each field has one writer: the stage named beside it. */
export class CallRecord {
  readonly id: string;
  readonly request: IncomingCall;
  readonly scope: CallScope;
  /** Interrupts this call from outside. */
  readonly signal: AbortSignal | undefined;
  /** Told of this call's progress, and of no other's. */
  readonly onProgress: RunOptions["onProgress"];
  /** Where whoever asked for the call stands in a trace. */
  readonly traceparent: string | undefined;
  /** Whoever asked for the call has it on disk. */
  readonly isKept: boolean;
  /** receive: where the call itself stands, where that is collected */
  trace: string | undefined;
  readonly startedAt = performance.now();
  /** The call that is meant: another one than `request` when that came through a stand-in. */
  readonly target: IncomingCall;
  /** Why a call of a stand-in means none. */
  readonly misdirected: Failure | undefined;
  /** resolve */
  entry!: Entry;
  /** resolve */
  tool!: AnyTool;
  /** resolve: the alias or name that matched, without decoration */
  spelling: string;
  /** decode */
  args: Readonly<Record<string, unknown>> = {};
  /** decode */
  repairs: readonly string[] = NOTHING;
  /** before-hooks */
  hookQuestion: string | undefined;
  /** effects: what the session's commands had left behind when the effects were worked out */
  taskVersion = 0;
  /** effects */
  effects: readonly Effect[] = NOTHING;
  /** policy, approval */
  decision: Decision | undefined;
  /** policy */
  grantKeys: readonly string[] = NOTHING;
  /** policy: what the policy itself said, before a hook or a person */
  judged: Verdict | undefined;
  /** approval: what was shown to whoever said yes */
  approvedHash: string | undefined;
  /** admit: the places the call may touch, by their real paths */
  keys: readonly EffectKey[] = NOTHING;
  /** admit */
  release: Release | undefined;
  /** journal, before execution; a promise while it is still on its way to the disk */
  journalEntry: JournalEntry | Promise<JournalEntry> | undefined;
  /** journal, before execution: resolves when the call may change something */
  mayChange: Promise<unknown> | undefined;
  /** The call will run: resolve then holds the version it found until the call is over. */
  keepsVersion = false;
  /** resolve */
  pinned = false;
  /** execute: the handler was started */
  began = false;
  /** execute: the worker of a cluster that ran it */
  worker: string | undefined;
  /** execute */
  output: unknown;
  /** What ended it before it gave a result; settle makes words of it. */
  ended: Failure | undefined;
  /** settle */
  ok = false;
  /** settle */
  content: readonly Content[] = NOTHING;
  /** settle */
  structured: unknown;
  /** settle: the text is the structured form written out, so masking one masks the other */
  structuredIsText = false;
  /** settle, bound: what a person sees where that is not the text of `content` */
  human: string | undefined;
  /** settle: how the program ended that the call ran */
  exitCode: number | undefined;
  /** settle */
  error: Failure | undefined;
  /** bound */
  truncated = false;
  /** bound */
  spilledTo: string | undefined;
  /** settle, and calls made from inside this one: who outside wrote text of the result */
  untrustedFrom: readonly string[] = NOTHING;
  /** execute, guardrails */
  notices: readonly string[] = NOTHING;
  /** settle */
  durationMs = 0;
  /** approval, execute: what models have read and written on behalf of this call */
  usage: CallUsage | undefined;
  /** approval, execute: the last of those models */
  model: string | undefined;
  /** approval: the question a person was asked */
  approval: string | undefined;
  /** approval: how long the answer took */
  approvalWaitMs: number | undefined;
  /** admit: how long it waited for calls that clash with it */
  queuedMs: number | undefined;
  /** execute: how often a request was sent once more */
  retries = 0;

  constructor(request: IncomingCall, scope: CallScope, options: WalkOptions = {}) {
    this.id = request.id;
    this.request = request;
    const meant = request.malformed === undefined ? scope.bridge?.unwrap(request) : undefined;
    this.target = meant === undefined || "code" in meant ? request : meant;
    this.misdirected = meant !== undefined && "code" in meant ? meant : undefined;
    this.scope = scope;
    this.signal = options.signal;
    this.onProgress = options.onProgress;
    this.traceparent = options.traceparent;
    this.isKept = options.isKept === true;
    this.spelling = this.target.name;
  }

  get name(): string {
    return this.entry === undefined ? this.target.name : this.entry.name;
  }

  /** With a purpose it goes on the bill of the conversation; without one, whoever asked the model has billed it. */
  countUsage(usage: ModelUsage, model: string | undefined, purpose?: BilledPurpose): void {
    const { models } = this.scope.host;
    if (purpose !== undefined) ignoreRejection(models?.bill({ purpose, usage, model }));
    const { inputTokens, outputTokens, costUsd } = usage;
    const cached = Math.min(usage.cachedTokens ?? 0, inputTokens);
    const cacheWrite = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached);
    const before = this.usage ?? NO_USAGE;
    const cost = costUsd === undefined ? before.costUsd : (before.costUsd ?? 0) + costUsd;
    this.usage = {
      input: before.input + inputTokens - cached - cacheWrite,
      cached: before.cached + cached,
      cacheWrite: before.cacheWrite + cacheWrite,
      output: before.output + outputTokens,
      ...(cost !== undefined && { costUsd: cost }),
      ...(purpose !== undefined && models === undefined && { unbilled: true }),
    };
    this.model = model ?? this.model;
  }

  addUntrusted(sources: readonly string[]): void {
    const added = sources.filter((source) => !this.untrustedFrom.includes(source));
    if (this.untrustedFrom.length < UNTRUSTED_NAMED) this.untrustedFrom = [...this.untrustedFrom, ...added];
  }

  /** `allow`, `deny`, or how a question was answered: `ask:once`. */
  get decided(): string | undefined {
    if (this.decision === undefined) return undefined;
    const { verdict, answer } = this.decision;
    return answer === undefined ? verdict : `${verdict}:${answer}`;
  }

  /** The call this one was made from, and the session of that call. */
  get parent(): { readonly id: string; readonly session: string } | undefined {
    const inside = this.scope.ancestors.at(-1);
    if (inside === undefined) return undefined;
    const slash = inside.indexOf("/");
    return { session: inside.slice(0, slash), id: inside.slice(slash + 1) };
  }

  get state(): CallState {
    if (!this.began) return "not_started";
    // A result that nobody can read is still the end of the work.
    return this.ok || this.error?.code === "bad_result" ? "done" : "partial";
  }

  toResult(): CallResult {
    const result: { -readonly [Field in keyof CallResult]: CallResult[Field] } = {
      id: this.id,
      name: this.name,
      called_as: this.request.name,
      ok: this.ok,
      state: this.state,
      content: this.content,
      human: this.human ?? textOf(this.content),
      duration_ms: this.durationMs,
      environment: this.scope.environment.name,
      truncated: this.truncated,
    };
    if (this.exitCode !== undefined) result.exit_code = this.exitCode;
    if (this.structured !== undefined) result.structured = this.structured;
    if (this.error !== undefined) result.error = this.error;
    if (this.decision !== undefined) result.decision = this.decision;
    if (this.worker !== undefined) result.worker = this.worker;
    if (this.spilledTo !== undefined) result.spilled_to = this.spilledTo;
    if (this.untrustedFrom.length > 0) result.untrusted_from = this.untrustedFrom;
    if (this.notices.length > 0) result.notices = this.notices;
    return result;
  }
}

/** Of milliseconds: what a clock says beyond that is noise, and takes room in every record. */
export function wholeMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
