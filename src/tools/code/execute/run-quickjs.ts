import type { CallContext } from "../../../tool/tool.js";
import { runInQuickJs } from "../quickjs/run.js";
import { ScriptThreads } from "../quickjs/threads.js";
import { insideScripts } from "./inside-scripts.js";
import type { Language } from "./language.js";
import { withoutTypes } from "./node-cell.js";
import { type CodeResult, INTERRUPTED, TIMED_OUT } from "./result.js";
import { type CodeSettings, toolChoice } from "./settings.js";

const EXIT_CODES = { success: 0, error: 1, timeout: TIMED_OUT, interrupted: INTERRUPTED } as const;

/** Code mode: JavaScript in a sandbox that holds nothing but the tools. */
export async function runCodeMode(
  request: {
    readonly code: string;
    readonly language: Language;
    readonly timeoutSeconds: number;
    readonly settings: CodeSettings;
  },
  ctx: CallContext,
): Promise<CodeResult> {
  const { settings, timeoutSeconds, language } = request;
  let pause: (waiting: boolean) => void = () => undefined;
  const tools = insideScripts(
    ctx.openTools({ ...toolChoice(settings.code_mode_tools), onWaiting: (waiting) => pause(waiting) }),
  );
  try {
    const done = await runInQuickJs({
      code: language === "typescript" ? withoutTypes(request.code) : request.code,
      tools,
      limits: {
        timeoutMs: timeoutSeconds * 1000,
        memoryBytes: settings.quickjs_memory_mb * 1024 * 1024,
        maxToolCalls: settings.max_tool_calls,
        maxStdoutChars: settings.max_stdout_bytes,
        maxStderrChars: settings.max_stderr_bytes,
      },
      signal: ctx.signal,
      threads: ctx.keep(ScriptThreads),
      onWaiting: (listener) => {
        pause = listener;
      },
      onOutput: ({ text }) => ctx.progress({ chunk: text }),
    });
    const { status, error } = done;
    return {
      success: status === "success",
      status,
      output: done.output,
      stderr: done.stderr === "" ? undefined : done.stderr,
      result: done.result,
      exit_code: EXIT_CODES[status],
      tool_calls_made: done.toolCallsMade,
      duration_seconds: Math.round(done.durationMs) / 1000,
      error: error && errorLine(error),
      hint: error?.hint,
      sandbox: "quickjs",
    };
  } finally {
    tools.close();
  }
}

function errorLine(error: {
  readonly name: string;
  readonly message: string;
  readonly line?: number | undefined;
}): string {
  const where = error.line === undefined ? "" : ` (line ${error.line})`;
  return `${error.name}: ${error.message}${where}`;
}
