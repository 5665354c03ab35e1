import type { ProcessEnd } from "../../../env/environment.js";
import { type Content, text } from "../../../tool/content.js";
import { mark } from "../../../tool/marked-text.js";
import type { CodeSettings } from "./settings.js";

export type Status = "success" | "error" | "timeout" | "interrupted";

export interface CodeResult {
  readonly success: boolean;
  readonly status: Status;
  readonly output: string;
  /** Left out when nothing was printed there. */
  readonly stderr?: string | undefined;
  /** Value of the last expression, where there is one: in a kernel and in code mode. */
  readonly result?: unknown;
  readonly exit_code: number;
  readonly tool_calls_made: number;
  readonly duration_seconds: number;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  readonly truncated?: boolean | undefined;
  /** What the code was shut in by. */
  readonly sandbox: string;
  /** What a person should know about the kernel: it is new, or why the one before is gone. */
  readonly kernel?: string | undefined;
}

export const TIMED_OUT = 124;
export const INTERRUPTED = 130;

export function statusOf(exitCode: number, stopped: "timeout" | "interrupted" | undefined): Status {
  if (stopped !== undefined) return stopped;
  if (exitCode === 0) return "success";
  return exitCode === INTERRUPTED ? "interrupted" : "error";
}

export function timedOutWords(seconds: number): { readonly error: string; readonly hint: string } {
  return {
    error: `The time of ${seconds} s was over and everything the code had started was ended.`,
    hint: "Do less in one script, or give it a larger timeout.",
  };
}

/** Which limits of the sandbox the code has met, in words. */
export function limitWords(reached: ProcessEnd["reached"], settings: CodeSettings): string | undefined {
  if (reached === undefined || reached.length === 0) return undefined;
  const wanted = reached.map((limit) =>
    limit === "memory"
      ? `more than ${settings.memory_mb} MB of memory (code_execution.memory_mb)`
      : `more than ${settings.max_processes} processes and threads (code_execution.max_processes)`,
  );
  return `The script wanted ${wanted.join(" and ")}.`;
}

export function presentCode(out: CodeResult): { readonly model: readonly Content[]; readonly human: string } {
  const { success, ...shown } = out;
  const lines = [
    out.output.replace(/\n$/, ""),
    out.stderr === undefined ? "" : mark.warning(out.stderr.replace(/\n$/, "")),
    out.result === undefined ? "" : mark.good(`→ ${resultText(out.result)}`),
    success || out.error === undefined ? "" : mark.bad(out.error),
    mark.dim(summary(out)),
  ];
  return { model: [text(JSON.stringify(shown))], human: lines.filter((line) => line !== "").join("\n") };
}

function summary(out: CodeResult): string {
  const calls = out.tool_calls_made === 1 ? "1 tool call" : `${out.tool_calls_made} tool calls`;
  const parts = [out.status, `${out.duration_seconds} s`, calls, `sandbox: ${out.sandbox}`];
  return [...parts, ...(out.kernel === undefined ? [] : [out.kernel])].join(" · ");
}

function resultText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
