import type { CallState } from "../tool/call.js";
import { type JournalStats, noStats, type StatsQuery } from "./stats/stats.js";
import type { ToolMetrics } from "./stats/tool-metrics.js";

type MaybePromise<Value> = Value | Promise<Value>;

/**
 * The record of every call: intent before, outcome after. Nothing but `prune` ever removes a row. One process keeps it
 * in SQLite (`sqlite-journal.ts`); several machines may bring one of their own, whose answers then take a while.
 */
export interface Journal {
  /** False when the journal is switched off: then nothing needs to be prepared for it. */
  readonly enabled: boolean;
  /**
   * With `durableBefore`, resolves once the intent is on the disk and rejects when it cannot get there.
   * Otherwise returns at once; a call that ends soon is then written as one row with its outcome.
   */
  begin(intent: CallIntent): JournalEntry | Promise<JournalEntry>;
  recent(query: RecentQuery): MaybePromise<readonly JournalRow[]>;
  /** One call: by its number, or the newest that has this id; ids repeat from session to session. */
  call(id: number | string, within?: CallWithin): MaybePromise<JournalRow | undefined>;
  /**
   * The text a call was answered with, by its `result_hash`; undefined when it is kept no longer, or never was. Found at
   * once where the number of the call is known too.
   */
  result(hash: string, seq?: number): MaybePromise<string | undefined>;
  stats(query: StatsQuery): MaybePromise<JournalStats>;
  /** Sums over all calls there ever were, for those who draw them over time themselves. */
  metrics(): MaybePromise<ToolMetrics>;
  /** Counts a little of what `stats` has not counted yet, so that it need not be done when somebody asks. */
  keepUp(): MaybePromise<void>;
  /** Calls whose process died while they ran become "unknown"; they are returned and never run again. */
  recover(): MaybePromise<readonly JournalRow[]>;
  /** Removes finished calls older than so many days; returns how many. */
  prune(days: number): MaybePromise<number>;
  close(): Promise<void>;
}

export interface JournalEntry {
  /** Set once the call has a row. */
  readonly seq?: number | undefined;
  /**
   * Resolves when the outcome is committed: it survives the end of the process, and reaches the disk a moment later.
   * Rejects, without harm to later calls, when it cannot be written.
   */
  end(outcome: CallOutcome): Promise<void>;
  /**
   * For those who do not wait: it is committed a moment later, and before whatever is awaited after it. The outcome is
   * asked for when there is time.
   */
  endSoon(outcome: () => CallOutcome): void;
}

/** What is known of a call before it runs. */
export interface CallIntent {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly calledAs: string;
  readonly door: string;
  /** Secrets already redacted; kept up to 64 KiB. */
  readonly argsJson: string;
  /** Their full length, when texts in them were cut already. */
  readonly argsBytes?: number | undefined;
  readonly effectsJson: string;
  readonly decision: string;
  readonly rule: string;
  readonly environment: string;
  readonly toolset?: string | undefined;
  /** The model that made the call, where one did. */
  readonly model?: string | undefined;
  /** The call this one was made from, and the session of that call. */
  readonly parent?: string | undefined;
  readonly parentSession?: string | undefined;
  /** The conversation it was made in, where there is one. */
  readonly conversation?: string | undefined;
  /** The folder that relative names began at, and the session's own folder where that is another one. */
  readonly cwd?: string | undefined;
  readonly workspace?: string | undefined;
  /** How long it waited for calls that clash with it. */
  readonly queuedMs?: number | undefined;
  /** How long a person or a reviewer took to answer. */
  readonly approvalWaitMs?: number | undefined;
  /** The question that was put to a person. */
  readonly approval?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** True when the call writes or executes: it may start only once its intent is on the disk. */
  readonly durableBefore: boolean;
}

export type CallStatus = "ok" | "error" | "blocked" | "denied" | "timeout" | "cancelled" | "unknown";

export interface CallOutcome {
  readonly status: CallStatus;
  readonly state: CallState;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly durationMs: number;
  readonly resultChars: number;
  /** As many as it has characters when left out. */
  readonly resultBytes?: number | undefined;
  readonly resultHash: string;
  readonly truncated: boolean;
  readonly repairs?: string | undefined;
  /** Masked; kept up to 64 KiB, apart from the row. */
  readonly result?: string | undefined;
  /** How the program ended that the call ran. */
  readonly exitCode?: number | undefined;
  /** How often the call sent the same request once more. */
  readonly retries?: number | undefined;
  /** The last model that was asked on behalf of the call, where no model made it. */
  readonly model?: string | undefined;
  readonly usage?: CallUsage | undefined;
  /** The worker of a cluster that ran it. */
  readonly worker?: string | undefined;
}

/** What models took that were asked on behalf of a call. No token is in two parts, so their sum is the bill. */
export interface CallUsage {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Where the servers say so. */
  readonly costUsd?: number | undefined;
  /** No conversation has it on its bill. */
  readonly unbilled?: boolean | undefined;
}

/** One call as it is read back. */
export interface JournalRow {
  readonly seq: number;
  readonly call_id: string;
  readonly session_id: string;
  readonly tool: string;
  readonly called_as: string;
  readonly door: string;
  readonly args: string;
  /** Present when `args` was cut: its full length in bytes. */
  readonly args_bytes?: number;
  readonly effects: string;
  readonly decision: string;
  readonly rule: string;
  readonly environment: string;
  readonly started_at: number;
  /** "running" in some live process; "unknown" when that ended, or the power, before the outcome was kept. */
  readonly status: CallStatus | "running";
  /** How far it came; absent while it runs. `partial` where the outcome was lost: it may have done anything. */
  readonly state?: CallState;
  readonly duration_ms?: number;
  readonly result_chars?: number;
  /** Absent where each character is one byte. */
  readonly result_bytes?: number;
  readonly result_hash?: string;
  readonly truncated?: boolean | undefined;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly repairs?: string;
  readonly toolset?: string;
  readonly model?: string;
  readonly parent?: string;
  readonly parent_session?: string;
  /** The worker of a cluster that ran it. */
  readonly worker?: string;
  readonly conversation?: string;
  readonly cwd?: string;
  /** Absent where it is `cwd`. */
  readonly workspace?: string;
  readonly queued_ms?: number;
  readonly approval_wait_ms?: number;
  readonly approval?: string;
  readonly retries?: number;
  readonly exit_code?: number;
  /** Parts of the input that the server knew already, or was paid to keep, are not in `input_tokens`. */
  readonly input_tokens?: number;
  readonly cached_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_usd?: number;
  readonly unbilled?: boolean;
  /** An estimate: what the result takes in a model's window. */
  readonly result_tokens?: number;
  readonly owner: string;
  /** True when the stored row no longer matches its checksum; its fields are not to be trusted. */
  readonly damaged?: boolean;
}

export interface CallWithin {
  readonly sessionId?: string | undefined;
  readonly conversation?: string | undefined;
}

export interface RecentQuery {
  readonly limit: number;
  readonly tool?: string;
  readonly sinceMs?: number;
  readonly sessionId?: string;
  readonly conversation?: string;
  /** Only rows with a lower number than this. */
  readonly before?: number;
  readonly status?: JournalRow["status"];
  readonly door?: string;
  readonly environment?: string;
  /** The rule that decided. */
  readonly rule?: string;
  /** Calls made from inside the call of this id. */
  readonly parent?: string;
  /** Part of the tool's name or of the arguments, in any case. */
  readonly text?: string;
}

const NO_METRICS: ToolMetrics = { tools: [], answers: {} };
const done = Promise.resolve();
const nullEntry: JournalEntry = { end: () => done, endSoon: () => undefined };

/** For a runtime whose journal is switched off. */
export function nullJournal(): Journal {
  return {
    enabled: false,
    begin: () => nullEntry,
    recent: () => [],
    call: () => undefined,
    result: () => undefined,
    stats: noStats,
    metrics: () => NO_METRICS,
    keepUp: () => undefined,
    recover: () => [],
    prune: () => 0,
    close: () => done,
  };
}

/** Where nothing can be written down any more: what changes something is refused, what only reads is let through. */
export function fullJournal(why: string): Journal {
  const refused = () => Promise.reject(new Error(why));
  const entry: JournalEntry = { end: refused, endSoon: () => undefined };
  return {
    ...nullJournal(),
    enabled: true,
    begin: ({ durableBefore }) => (durableBefore ? refused() : entry),
  };
}
