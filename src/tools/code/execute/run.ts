import { OutputWindow } from "../../../env/output-window.js";
import type { CallContext, NestedTools } from "../../../tool/tool.js";
import { PausableTimer } from "../quickjs/clock.js";
import { insideScripts } from "./inside-scripts.js";
import type { InterpreterListener, ToolCall } from "./interpreter.js";
import { ScriptTools } from "./script-tools.js";
import { type CodeSettings, toolChoice } from "./settings.js";

/** What one run of some code has printed, called and used of its time. */
export class Run {
  readonly tools: NestedTools;
  readonly calls: ScriptTools;
  readonly #ctx: CallContext;
  readonly #stdout: OutputWindow;
  readonly #stderr: OutputWindow;
  readonly #began = performance.now();
  readonly #limitMs: number;
  #timer: PausableTimer | undefined;
  #waits = 0;

  constructor(ctx: CallContext, settings: CodeSettings, options: { readonly timeoutMs: number }) {
    this.#ctx = ctx;
    this.#limitMs = options.timeoutMs;
    this.#stdout = new OutputWindow(settings.max_stdout_bytes);
    this.#stderr = new OutputWindow(settings.max_stderr_bytes);
    const onWaiting = (waiting: boolean) => {
      this.#waits += waiting ? 1 : -1;
      this.#timer?.pause(waiting);
    };
    this.tools = insideScripts(ctx.openTools({ ...toolChoice(settings.tools), onWaiting }));
    this.calls = new ScriptTools(this.tools, settings.max_tool_calls);
  }

  /** Calls back when the time is over or the call was cancelled, whichever comes first. */
  limit(onOver: (why: "timeout" | "interrupted") => void): void {
    const { signal } = this.#ctx;
    this.#timer = new PausableTimer(this.#limitMs, () => onOver("timeout"));
    for (let each = 0; each < this.#waits; each += 1) this.#timer.pause(true);
    const onAbort = () => onOver("interrupted");
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  }

  listener(
    answer: (call: ToolCall, answer: Awaited<ReturnType<ScriptTools["call"]>>) => void,
  ): InterpreterListener {
    return {
      onOutput: (bytes) => this.#ctx.progress({ chunk: this.#stdout.push(bytes) }),
      onError: (bytes) => this.#ctx.progress({ chunk: this.#stderr.push(bytes) }),
      onCall: (call) => void this.calls.call(call).then((result) => answer(call, result)),
    };
  }

  printError(text: string): void {
    this.#stderr.push(Buffer.from(text));
  }

  printed(): { readonly output: string; readonly stderr: string; readonly truncated: boolean } {
    const out = this.#stdout.finish();
    const err = this.#stderr.finish();
    return { output: out.text, stderr: err.text, truncated: out.truncated || err.truncated };
  }

  get seconds(): number {
    return Math.round(performance.now() - this.#began) / 1000;
  }

  async close(): Promise<void> {
    this.#timer?.stop();
    await this.calls.close();
  }
}
