import type { Progress } from "@modelcontextprotocol/client";
import { cancelDeadline, type Deadline, setDeadline } from "../../call/deadlines.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { cleanLine } from "./clean-text.js";

export interface CallLimits {
  /** Without a sign of life for so long, it is given up; progress starts it anew. */
  readonly timeoutMs: number;
  /** Given up however much progress is reported. */
  readonly maxTimeoutMs: number;
}

/** The SDK's own limit is never the one that counts. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

const LONGEST_PROGRESS = 300;

/** One request to a server on behalf of a call: its clock, its progress, its end. */
export class RunningCall implements Deadline {
  dueAt = 0;
  timer: NodeJS.Timeout | undefined = undefined;
  readonly context: CallContext;
  readonly #limits: CallLimits;
  readonly signal = new CallSignal();
  readonly #startedAt = performance.now();
  #waits = 0;
  #waitedMs = 0;
  #waitingSince = 0;
  #unlisten: (() => void) | undefined;
  #isCancelled = false;
  #hasEnded = false;
  /** Which limit the clock is set to: when it fires, a few milliseconds more or less say nothing about that. */
  #nextLimit: "silence" | "total" = "silence";
  #timedOut: "silence" | "total" | undefined;

  constructor(context: CallContext, limits: CallLimits) {
    this.context = context;
    this.#limits = limits;
    if (context.onAbort === undefined) this.#listenTo(context.signal);
    else context.onAbort(() => this.#cancel());
    this.#restart();
  }

  /** For a request that is made by the SDK. */
  get requestOptions() {
    return {
      signal: this.signal as unknown as AbortSignal,
      timeout: NO_SDK_TIMEOUT_MS,
      onprogress: (progress: Progress) => this.progress(progress),
    };
  }

  /** Also a sign of life. Never throws: it runs inside the SDK. */
  progress({ progress, total, message }: Progress): void {
    if (this.#waits === 0) this.#restart();
    const fraction =
      typeof total === "number" && total > 0 ? Math.min(1, Math.max(0, progress / total)) : undefined;
    this.context.progress({
      ...(typeof message === "string" && { message: cleanLine(message, LONGEST_PROGRESS) }),
      fraction,
    });
  }

  /** While the server waits for a person, the time is not the server's. */
  async whileWaiting<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waits === 0) {
      cancelDeadline(this);
      this.#waitingSince = performance.now();
    }
    this.#waits += 1;
    try {
      return await work();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) {
        this.#waitedMs += performance.now() - this.#waitingSince;
        this.#restart();
      }
    }
  }

  end(): void {
    cancelDeadline(this);
    this.#hasEnded = true;
    this.#unlisten?.();
  }

  #listenTo(signal: AbortSignal): void {
    const cancel = () => this.#cancel();
    signal.addEventListener("abort", cancel, { once: true });
    this.#unlisten = () => signal.removeEventListener("abort", cancel);
    if (signal.aborted) cancel();
  }

  #cancel(): void {
    if (this.#hasEnded) return;
    this.#isCancelled = true;
    this.signal.abort("the call was cancelled");
  }

  fire(): void {
    this.#timedOut = this.#nextLimit;
    this.signal.abort("timed out");
  }

  /** Why the request was given up here, when it was. */
  givenUp(server: string, tool: string): ToolError | undefined {
    if (this.#timedOut !== undefined) return this.#timeoutError(server, tool, this.#timedOut);
    if (!this.#isCancelled) return undefined;
    return new ToolError(`the call of ${tool} on MCP server ${server} was cancelled`, { code: "cancelled" });
  }

  #timeoutError(server: string, tool: string, which: "silence" | "total"): ToolError {
    const elapsed = (this.#worked() / 1000).toFixed(1);
    const { timeoutMs, maxTimeoutMs } = this.#limits;
    const [what, setting, limit] =
      which === "total"
        ? ["did not finish", "max_timeout", maxTimeoutMs / 1000]
        : ["gave no sign of life", "timeout", timeoutMs / 1000];
    return new ToolError(
      `${tool} on MCP server ${server} ${what}: given up after ${elapsed} s (${setting} is ${limit} s)`,
      { code: "timeout", hint: `Do less in one call, or raise mcp_servers.${server}.${setting}.` },
    );
  }

  #worked(): number {
    return performance.now() - this.#startedAt - this.#waitedMs;
  }

  #restart(): void {
    cancelDeadline(this);
    // A question can be answered after the call it belonged to is over.
    if (this.#hasEnded || this.signal.aborted) return;
    const left = this.#limits.maxTimeoutMs - this.#worked();
    this.#nextLimit = left <= this.#limits.timeoutMs ? "total" : "silence";
    setDeadline(this, Math.max(1, Math.min(this.#limits.timeoutMs, left)));
  }
}

const NOBODY: readonly (() => void)[] = [];

/**
 * As much of an `AbortSignal` as the SDK looks at for a request. A real one costs a noticeable part of a small call,
 * and most calls are never cancelled.
 */
export class CallSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: readonly (() => void)[] = NOBODY;

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners =
      this.#listeners.length === 1 && this.#listeners[0] === listener
        ? NOBODY
        : this.#listeners.filter((other) => other !== listener);
  }

  abort(reason: string): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }
}
