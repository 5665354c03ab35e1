import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { openCodeWorkspace, sandboxWords } from "./code-workspace.js";
import { Kernel } from "./kernel.js";
import { Kernels } from "./kernels.js";
import { type Language, runnerOf } from "./language.js";
import { type CodeResult, statusOf, TIMED_OUT } from "./result.js";
import { Run } from "./run.js";
import type { ScriptRequest } from "./run-script.js";
import { forDriver } from "./script-tools.js";

/** Runs code in the interpreter that the session keeps for this language. */
export async function runInKernel(
  request: ScriptRequest & { readonly language: Language; readonly reset: boolean },
  ctx: CallContext,
): Promise<CodeResult> {
  const { settings, timeoutSeconds, mode, language } = request;
  const runner = runnerOf(language);
  const kernels = ctx.keep(Kernels);
  const name = `kernel ${runner} ${mode}`;
  const run = new Run(ctx, settings, { timeoutMs: timeoutSeconds * 1000 });
  try {
    const { kernel, fresh } = await kernels.take({
      name,
      reset: request.reset,
      max: settings.max_kernels,
      start: async () => Kernel.open(await openCodeWorkspace(ctx, { runner, mode, settings }), runner),
    });
    if (kernel.busy) throw isBusy();
    kernel.earlier.judge(request.code, runner, ctx);
    kernel.earlier.add(request.code);
    let stopped: "timeout" | "interrupted" | undefined;
    run.limit((why) => {
      stopped ??= why;
      kernel.interrupt(why === "timeout" ? "the time was over" : "the call was cancelled");
    });
    const cell = {
      ...(language === "python" ? { code: request.code } : await nodeCode(request.code, language)),
      stdin: request.stdin,
      tools: forDriver(runner, run.tools.tools),
    };
    const outcome = await kernel.run(
      cell,
      run.listener((call, answer) => kernel.answer(call.key, answer)),
    );
    kernels.release(name, settings.kernel_idle_seconds);
    if (outcome.trace !== undefined) run.printError(outcome.trace);
    const printed = run.printed();
    const exitCode = stopped === "timeout" ? TIMED_OUT : outcome.exit;
    const status =
      outcome.gone !== undefined && stopped === undefined ? "error" : statusOf(exitCode, stopped);
    return {
      success: status === "success",
      status,
      output: printed.output,
      stderr: printed.stderr === "" ? undefined : printed.stderr,
      result: outcome.result === undefined ? undefined : shortened(outcome.result, settings.max_stdout_bytes),
      exit_code: exitCode,
      tool_calls_made: run.calls.made,
      duration_seconds: run.seconds,
      error: status === "success" ? undefined : errorWords({ outcome, stopped, timeoutSeconds }),
      truncated: printed.truncated ? true : undefined,
      sandbox: sandboxWords(ctx.environment, kernel.confinedBy, settings),
      kernel:
        outcome.gone === undefined
          ? (fresh ?? "kept")
          : `gone: ${outcome.gone}; the next call starts a new one`,
    };
  } finally {
    await run.close();
  }
}

/** Loaded here, because it brings the TypeScript compiler. */
export async function nodeCode(code: string, language: Exclude<Language, "python">) {
  const { nodeCell } = await import("./node-cell.js");
  return nodeCell(code, language);
}

function errorWords(given: {
  readonly outcome: { readonly error?: string | undefined; readonly exit: number; readonly gone?: string };
  readonly stopped: "timeout" | "interrupted" | undefined;
  readonly timeoutSeconds: number;
}): string {
  const { outcome, stopped, timeoutSeconds } = given;
  if (stopped === "timeout") {
    const state = outcome.gone === undefined ? "what it has computed so far is kept" : outcome.gone;
    return `The time of ${timeoutSeconds} s was over and the code was interrupted; ${state}.`;
  }
  if (outcome.gone !== undefined) return `The kernel is gone: ${outcome.gone}.`;
  return outcome.error ?? `The code ended with exit code ${outcome.exit}.`;
}

export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.floor(limit * 0.4);
  return `${text.slice(0, head)}\n[... ${text.length - limit} of ${text.length} characters omitted ...]\n${text.slice(head - limit)}`;
}

export function isBusy(): ToolError {
  return new ToolError("This interpreter is busy with another call.", {
    hint: "Wait until that one has ended, or use another session.",
  });
}
