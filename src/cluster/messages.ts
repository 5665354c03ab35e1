import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import type { CallUsage } from "../call/journal.js";
import type { ApprovalReply, ApprovalRequest } from "../call/scope.js";
import type { ProcessNotice } from "../env/processes/types.js";
import type { RuntimeEvent } from "../observe/events.js";
import type { Effect } from "../tool/effects.js";
import type { Failure } from "../tool/errors.js";
import type { CallContext, Progress } from "../tool/tool.js";

/** What machines of a cluster tell each other. Signed and serialised by the bus. */

/** Where the commands of a session stand: enough to go on elsewhere. */
export interface TaskLeft {
  readonly cwd: string;
  readonly exported: Readonly<Record<string, string | undefined>>;
}

/** As the node has it that sends an order; whoever has a later one of the same node keeps that. */
export interface TaskGiven extends TaskLeft {
  readonly version: number;
}

/** What a worker needs to know of a session. */
export interface SessionSpec {
  readonly profile: string;
  readonly environment: string;
  /** The tools of its view: what a script on the worker calls is none but these. */
  readonly tools: readonly string[];
  readonly conversation?: string | undefined;
  readonly heard: readonly string[];
}

/** One attempt at one call. That it is signed is the decision: the node where the session lives has let it pass. */
export interface Order {
  readonly uid: string;
  /** Fencing token: what comes from another attempt than the latest settles nothing. */
  readonly attempt: number;
  readonly node: string;
  readonly session: string;
  /** Both are sent until the worker has answered once, and again when they are others. */
  readonly spec?: SessionSpec | undefined;
  readonly task?: TaskGiven | undefined;
  readonly id: string;
  readonly tool: string;
  /** The very tool that was judged and approved; any version of a built-in one. */
  readonly hash?: string | undefined;
  readonly args: Readonly<Record<string, unknown>>;
  readonly traceparent?: string | undefined;
  /** On the disk where the session lives, as its outcome will be: the worker's own row may follow. */
  readonly isKept?: boolean | undefined;
  /**
   * Somebody was asked, or a grant stands for them: a question of the worker's own rules is answered by it when the
   * call would touch there what it was approved to touch, which this is the hash of.
   */
  readonly approved?: string | undefined;
}

/** Hash of what a call touches, without what is only said about it. What a command means depends on the folder. */
export function whatIsTouched(effects: readonly Effect[], cwd: string): string {
  const touched = effects.map(({ ask: _ask, lock: _lock, shown: _shown, detail: _detail, ...rest }) => rest);
  const folder = effects.some(({ mode }) => mode === "execute") ? cwd : undefined;
  return sha256(canonicalJson({ touched, folder }));
}

/** Of one attempt: the servers take two messages of one id once. */
export function orderId({ uid, attempt }: Pick<Order, "uid" | "attempt">): string {
  return `${uid}.${attempt}`;
}

export interface Outcome {
  readonly uid: string;
  readonly attempt: number;
  readonly worker: string;
  readonly began: boolean;
  /** It was not begun, and may go elsewhere or come again: the session or the tool is not here, the order too old, the worker leaves. */
  readonly declined?: "session" | "tool" | "late" | "leaving" | undefined;
  readonly ended?: Failure | undefined;
  /** What the handler gave. */
  readonly output?: unknown;
  /** True when `output` has the fields of a ToolResult. */
  readonly isToolResult?: boolean;
  readonly untrustedFrom: readonly string[];
  readonly usage?: CallUsage | undefined;
  readonly model?: string | undefined;
  readonly retries: number;
  /** Present when it has changed. */
  readonly task?: TaskLeft | undefined;
  readonly notices: readonly ProcessNotice[];
}

/** To the node where a session lives. */
export type ToNode =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | {
      readonly kind: "progress";
      readonly uid: string;
      readonly attempt: number;
      readonly progress: Progress;
    }
  | { readonly kind: "event"; readonly event: RuntimeEvent }
  | { readonly kind: "notices"; readonly session: string; readonly notices: readonly ProcessNotice[] }
  /** Answered with a `NodeAnswer`. */
  | {
      readonly kind: "approve";
      readonly uid: string;
      readonly attempt: number;
      readonly request: ApprovalRequest;
    }
  | {
      readonly kind: "ask";
      readonly uid: string;
      readonly attempt: number;
      readonly question: Parameters<CallContext["ask"]>[0];
    }
  /** Does anybody still wait for this attempt? */
  | { readonly kind: "wanted"; readonly uid: string; readonly attempt: number };

export type NodeAnswer =
  | { readonly kind: "wanted"; readonly wanted: boolean }
  | { readonly kind: "approve"; readonly reply: ApprovalReply | "nobody" }
  | { readonly kind: "ask"; readonly reply: Awaited<ReturnType<CallContext["ask"]>> };

/** To one worker; each is answered with a `WorkerAnswer`. */
export type ToWorker =
  | { readonly kind: "cancel"; readonly uid: string }
  | { readonly kind: "endSession"; readonly session: string }
  | { readonly kind: "drain" }
  /** Which of these does it know of? Outcomes it has are sent once more. */
  | { readonly kind: "check"; readonly uids: readonly string[] }
  /** Attempts up to this one are not to begin any more. */
  | { readonly kind: "fence"; readonly uid: string; readonly attempt: number };

export type WorkerAnswer =
  | { readonly kind: "done" }
  /** Of the asked ones those it has never seen, and those whose outcome it no longer has. */
  | { readonly kind: "check"; readonly missing: readonly string[]; readonly forgotten: readonly string[] }
  /** False when it had begun already. */
  | { readonly kind: "fence"; readonly fenced: boolean };

export type WorkerState = "ready" | "draining";

/** Told every second; the rest is in the worker's record, which is read anew when `revision` is another. */
export interface Beat {
  readonly id: string;
  readonly state: WorkerState;
  readonly running: number;
  /** Whether its queue has answered it the last time: one that hears nothing would wait for ever, and look well. */
  readonly answered: boolean;
  readonly revision: number;
}

export interface WorkerRecord {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly labels: readonly string[];
  readonly toolsets: readonly string[];
  readonly environments: readonly string[];
  readonly slots: number;
  readonly revision: number;
  /** Tools that are ready there, with a hash of what they take and may do. */
  readonly tools: Readonly<Record<string, string>>;
}
