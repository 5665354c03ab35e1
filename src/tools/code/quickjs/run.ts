import type { JsonValue } from "../../../tool/json-schema.js";
import type { NestedTools } from "../../../tool/tool.js";
import { SpinningLoop } from "./adaptive-spin.js";
import { Answers } from "./answers.js";
import { PausableTimer } from "./clock.js";
import type { Ended, Ending, FromThread, Order, ScriptFailure } from "./protocol.js";
import type { ScriptThread } from "./thread.js";
import { ScriptThreads } from "./threads.js";

/** A stopped script that has not ended by then is ended together with its thread. */
const GRACE_MS = 200;
const MEMORY_HINT = "Work on smaller pieces, and keep only what is needed.";
const LARGEST_RESULT_CHARS = 5_000_000;

export interface QuickJsRequest {
  readonly code: string;
  readonly tools: NestedTools;
  readonly limits: {
    readonly timeoutMs: number;
    readonly memoryBytes: number;
    readonly maxToolCalls: number;
    readonly maxStdoutChars: number;
    readonly maxStderrChars: number;
  };
  readonly signal?: AbortSignal;
  /** `ctx.keep(ScriptThreads)`, so that the next script of the session finds a warm thread. */
  readonly threads?: ScriptThreads;
  /** Hands over a listener for `onWaiting` of `ctx.openTools`: time spent waiting for a person does not count. */
  onWaiting?(listener: (waiting: boolean) => void): void;
  /** Pieces of output as they come, up to the limits. */
  onOutput?(piece: { readonly stream: "stdout" | "stderr"; readonly text: string }): void;
}

export interface QuickJsOutcome {
  readonly status: "success" | "error" | "timeout" | "interrupted";
  readonly output: string;
  readonly stderr: string;
  /** What the script returned, or its last value; absent when it gave nothing. */
  readonly result?: JsonValue | undefined;
  readonly error?: (ScriptFailure & { readonly line?: number | undefined }) | undefined;
  readonly toolCallsMade: number;
  readonly durationMs: number;
}

/** Runs a script in a sandbox that holds nothing but the tools. Never rejects. */
export async function runInQuickJs(request: QuickJsRequest): Promise<QuickJsOutcome> {
  const threads = request.threads ?? new ScriptThreads();
  const thread = threads.take(request.limits.memoryBytes);
  try {
    return await new Script(request, thread).run();
  } finally {
    threads.giveBack(thread);
    if (request.threads === undefined) await threads.close();
  }
}

class Script {
  readonly #request: QuickJsRequest;
  readonly #thread: ScriptThread;
  readonly #answers: Answers;
  readonly #loop = new SpinningLoop();
  readonly #printed = { stdout: "", stderr: "" };
  #stopReason: "timeout" | "interrupted" | undefined;

  constructor(request: QuickJsRequest, thread: ScriptThread) {
    this.#request = request;
    this.#thread = thread;
    this.#answers = new Answers({
      tools: request.tools,
      maxChars: request.limits.memoryBytes,
      reply: (text) => {
        thread.answer(text);
        this.#loop.answered();
      },
    });
  }

  async run(): Promise<QuickJsOutcome> {
    const began = performance.now();
    const { limits, signal } = this.#request;
    const ended = await new Promise<Ended>((resolve) => {
      let grace: NodeJS.Timeout | undefined;
      const stop = (reason: "timeout" | "interrupted") => {
        if (this.#stopReason !== undefined) return;
        this.#stopReason = reason;
        this.#thread.stop();
        grace = setTimeout(() => void this.#thread.end().then(() => finish(this.#cutShort())), GRACE_MS);
      };
      const interrupt = () => stop("interrupted");
      const timer = new PausableTimer(limits.timeoutMs, () => stop("timeout"));
      const finish = (message: Ended) => {
        timer.stop();
        clearTimeout(grace);
        signal?.removeEventListener("abort", interrupt);
        resolve(message);
      };
      this.#request.onWaiting?.((waiting) => timer.pause(waiting));
      this.#thread.begin(this.#order(), {
        message: (message) =>
          typeof message === "object" && message.kind === "ended" ? finish(message) : this.#hear(message),
        died: (reason) => finish(this.#cutShort({ how: "broken", reason })),
      });
      signal?.addEventListener("abort", interrupt, { once: true });
      if (signal?.aborted === true) interrupt();
    });
    await this.#answers.end();
    return this.#outcome(ended, performance.now() - began);
  }

  #order(): Order {
    const { code, tools, limits } = this.#request;
    const { timeoutMs, ...others } = limits;
    const names = JSON.stringify(tools.tools.map(({ name }) => name));
    return { kind: "run", code, names, limits: { ...others, computeMs: timeoutMs } };
  }

  #hear(message: Exclude<FromThread, Ended>): void {
    this.#loop.called();
    if (typeof message === "object") {
      const { stream, text } = message;
      this.#printed[stream] += text;
      this.#request.onOutput?.({ stream, text });
      return;
    }
    if (this.#stopReason === undefined) this.#answers.take(message);
  }

  #cutShort(ending: Ending = { how: "stopped" }): Ended {
    return { kind: "ended", ending, ...this.#printed };
  }

  #outcome({ ending, stdout, stderr }: Ended, durationMs: number): QuickJsOutcome {
    const common = { output: stdout, stderr, toolCallsMade: this.#answers.toolCalls, durationMs };
    switch (ending.how) {
      case "done":
        return { ...common, ...resultOf(ending.result) };
      case "failed":
        return { ...common, status: "error", error: this.#failedBy(ending.error) };
      case "broken":
        return { ...common, status: "error", error: this.#brokenBy(ending.reason) };
      case "out_of_time":
      case "stopped":
        return this.#stopReason === "interrupted"
          ? {
              ...common,
              status: "interrupted",
              error: { name: "Interrupted", message: "The script was interrupted" },
            }
          : { ...common, status: "timeout", error: this.#timedOut() };
    }
  }

  #failedBy(error: ScriptFailure): ScriptFailure & { readonly line?: number | undefined } {
    if (error.name !== "InternalError" || error.message !== "out of memory") return located(error);
    return located({
      ...error,
      message: `out of memory: the script may use ${this.#megabytes} MB`,
      hint: MEMORY_HINT,
    });
  }

  get #megabytes(): number {
    return Math.floor(this.#request.limits.memoryBytes / 1024 / 1024);
  }

  #timedOut(): ScriptFailure {
    const seconds = this.#request.limits.timeoutMs / 1000;
    return {
      name: "Timeout",
      message: `The script was ended after ${seconds} s`,
      hint: "Do less in one script, or allow it more time.",
    };
  }

  #brokenBy(reason: string): ScriptFailure {
    return {
      name: "InternalError",
      message: `The script broke its sandbox: ${reason}`,
      hint: "Do it another way; the next script has a sandbox of its own.",
    };
  }
}

function resultOf(text: string | undefined): Pick<QuickJsOutcome, "status" | "result" | "error"> {
  if (text === undefined) return { status: "success" };
  if (text.length > LARGEST_RESULT_CHARS) {
    return {
      status: "error",
      error: {
        name: "RangeError",
        message: `The result of the script has ${text.length} characters of JSON; ${LARGEST_RESULT_CHARS} are allowed`,
        hint: "Return a part of it, or write it to a file.",
      },
    };
  }
  return { status: "success", result: JSON.parse(text) as JsonValue };
}

function located(error: ScriptFailure): ScriptFailure & { readonly line?: number | undefined } {
  const line = /script\.js:(\d+)/.exec(error.stack ?? "")?.[1];
  return line === undefined ? error : { ...error, line: Number(line) };
}
