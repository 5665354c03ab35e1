import type { ProcessEnd } from "../../../env/environment.js";
import type { CallContext } from "../../../tool/tool.js";
import { type Mode, openCodeWorkspace, sandboxWords } from "./code-workspace.js";
import { Interpreter, neverBegan } from "./interpreter.js";
import type { Runner } from "./language.js";
import { type CodeResult, limitWords, statusOf, TIMED_OUT, timedOutWords } from "./result.js";
import { Run } from "./run.js";
import { forDriver } from "./script-tools.js";
import type { CodeSettings } from "./settings.js";

export interface ScriptRequest {
  readonly runner: Runner;
  readonly code: string;
  readonly stdin: string;
  readonly mode: Mode;
  readonly timeoutSeconds: number;
  readonly settings: CodeSettings;
}

/** Runs a script in a fresh interpreter. When it returns, nothing of the script is left. */
export async function runScript(request: ScriptRequest, ctx: CallContext): Promise<CodeResult> {
  const { runner, settings, timeoutSeconds } = request;
  const place = await openCodeWorkspace(ctx, request);
  const run = new Run(ctx, settings, { timeoutMs: timeoutSeconds * 1000 });
  let interpreter: Interpreter | undefined;
  try {
    const script = { code: request.code, stdin: request.stdin, tools: forDriver(runner, run.tools.tools) };
    const started = await Interpreter.startScript(place.start, script);
    interpreter = started;
    let failure: string | undefined;
    let stopped: "timeout" | "interrupted" | undefined;
    started.listener = {
      ...run.listener((call, answer) => void started.answer(call.key, answer)),
      onFailure: ({ error }) => {
        failure = error;
      },
    };
    run.limit((why) => {
      stopped ??= why;
      void started.end();
    });
    const end = await started.ended;
    await started.end();
    const printed = run.printed();
    if (!started.hasBegun && stopped === undefined) {
      const { environment } = ctx;
      throw neverBegan({ runner, environment: environment.name, end, said: printed.output });
    }
    const exitCode = stopped === "timeout" ? TIMED_OUT : end.exitCode;
    const status = statusOf(exitCode, stopped);
    return {
      success: status === "success",
      status,
      output: printed.output,
      stderr: printed.stderr === "" ? undefined : printed.stderr,
      exit_code: exitCode,
      tool_calls_made: run.calls.made,
      duration_seconds: run.seconds,
      ...(stopped === "timeout"
        ? timedOutWords(timeoutSeconds)
        : errorOf({ status, failure, end, settings })),
      truncated: printed.truncated ? true : undefined,
      sandbox: sandboxWords(ctx.environment, started.confinedBy, settings),
    };
  } finally {
    await interpreter?.end();
    await run.close();
    await place.close();
  }
}

function errorOf(over: {
  readonly status: CodeResult["status"];
  readonly failure: string | undefined;
  readonly end: ProcessEnd;
  readonly settings: CodeSettings;
}): Pick<CodeResult, "error" | "hint"> {
  const { status, failure, end } = over;
  if (status === "success") return {};
  if (end.lost !== undefined) return { error: `The script was lost: ${end.lost}.` };
  const limits = limitWords(end.reached, over.settings);
  return {
    error: failure ?? limits ?? `The script ended with exit code ${end.exitCode}.`,
    hint: failure !== undefined && limits !== undefined ? limits : undefined,
  };
}
