import { OutputWindow } from "../../../env/output-window.js";
import type { CallContext } from "../../../tool/tool.js";
import { openCodeWorkspace, sandboxWords } from "../execute/code-workspace.js";
import { Kernel } from "../execute/kernel.js";
import { Kernels } from "../execute/kernels.js";
import { isBusy, nodeCode, shortened } from "../execute/run-kernel.js";
import { codeSettings } from "../execute/settings.js";
import type { ReplKind } from "./language.js";

export interface ReplResult {
  readonly success: boolean;
  readonly status: "success" | "error" | "timeout" | "interrupted";
  readonly session_id: string;
  readonly output: string;
  /** Value of the last expression, as the language shows it. */
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  /** Of bash: the exit status. */
  readonly exit_code?: number | undefined;
  readonly truncated?: boolean | undefined;
  /** That the session is new, or gone, and why. */
  readonly session?: string;
  readonly sandbox: string;
}

export interface ReplRequest {
  readonly kind: ReplKind;
  readonly code: string;
  readonly sessionId: string;
  readonly reset: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Runs code in a session that stays, and shows what it printed and what it came to. */
export async function runLine(request: ReplRequest, ctx: CallContext): Promise<ReplResult> {
  const settings = codeSettings(ctx.settings);
  const { kind, sessionId } = request;
  const { runner } = kind;
  const kernels = ctx.keep(Kernels);
  const name = `repl ${runner} ${sessionId}`;
  const { kernel, fresh } = await kernels.take({
    name,
    reset: request.reset,
    max: settings.max_kernels,
    start: async () =>
      Kernel.open(await openCodeWorkspace(ctx, { runner, mode: settings.mode, settings }), runner),
  });
  if (kernel.busy) throw isBusy();
  kernel.earlier.judge(request.code, runner, ctx);
  kernel.earlier.add(request.code);
  const output = new OutputWindow(settings.max_stdout_bytes);
  const print = (bytes: Buffer) => ctx.progress({ chunk: output.push(bytes) });
  const seconds = request.timeoutSeconds ?? settings.timeout;
  let stopped: "timeout" | "interrupted" | undefined;
  const stop = (why: "timeout" | "interrupted") => {
    stopped ??= why;
    kernel.interrupt(why === "timeout" ? "the time was over" : "the call was cancelled");
  };
  const timer = setTimeout(() => stop("timeout"), seconds * 1000);
  const onAbort = () => stop("interrupted");
  ctx.signal.addEventListener("abort", onAbort, { once: true });
  if (ctx.signal.aborted) onAbort();
  try {
    const prepared =
      kind.source === undefined ? { code: request.code } : await nodeCode(request.code, kind.source);
    const outcome = await kernel.run({ ...prepared, stdin: "" }, { onOutput: print, onError: print });
    const printed = output.finish();
    const failed = stopped !== undefined || outcome.exit !== 0 || outcome.gone !== undefined;
    const status = stopped ?? (failed ? "error" : "success");
    return {
      success: !failed,
      status,
      session_id: sessionId,
      output: printed.text,
      result: outcome.result === undefined ? undefined : shortened(outcome.result, settings.max_stdout_bytes),
      error: failed ? errorOf({ outcome, stopped, seconds }) : undefined,
      exit_code: runner === "bash" ? outcome.exit : undefined,
      truncated: printed.truncated ? true : undefined,
      ...sessionWords(fresh, outcome.gone),
      sandbox: sandboxWords(ctx.environment, kernel.confinedBy, settings),
    };
  } finally {
    clearTimeout(timer);
    ctx.signal.removeEventListener("abort", onAbort);
    kernels.release(name, settings.kernel_idle_seconds);
  }
}

function sessionWords(fresh: string | undefined, gone: string | undefined): Pick<ReplResult, "session"> {
  if (gone !== undefined) return { session: `gone: ${gone}; the next call starts a new one` };
  return fresh === undefined ? {} : { session: fresh };
}

function errorOf(given: {
  readonly outcome: { readonly exit: number; readonly trace?: string; readonly gone?: string };
  readonly stopped: "timeout" | "interrupted" | undefined;
  readonly seconds: number;
}): string {
  const { outcome, stopped, seconds } = given;
  if (stopped === "timeout") {
    const state = outcome.gone === undefined ? "the session is kept" : outcome.gone;
    return `The time of ${seconds} s was over and the code was interrupted; ${state}.`;
  }
  if (outcome.gone !== undefined) return `The session is gone: ${outcome.gone}.`;
  return outcome.trace ?? `exit status ${outcome.exit}`;
}
