import type { SeenEnd } from "../../env/environment.js";
import type { TrackedProcess } from "../../env/processes/types.js";
import type { SandboxReport } from "../../env/sandbox/types.js";
import { type Content, text } from "../../tool/content.js";
import { denialNote, sandboxedWord } from "./widen.js";

export interface TerminalOutput {
  readonly output: string;
  /** Null while it runs. */
  readonly exit_code: number | null;
  /** Only when something went wrong: it was stopped, or is not ready. A non-zero exit code is no error. */
  readonly error?: string | undefined;
  /** Left out when a command simply ran to its end. */
  readonly status?: "running" | "exited" | "needs_input" | undefined;
  readonly exit_code_meaning?: string | undefined;
  readonly hint?: string | undefined;
  readonly duration_ms: number;
  readonly truncated: boolean;
  /** Where the shell stood when it ended. */
  readonly cwd: string;
  readonly environment: string;
  /** Names a background process, or one that waits for input, for the process tool. */
  readonly session_id?: string | undefined;
  readonly pid?: number | undefined;
  /** With the status needs_input: what seems to be asked for. */
  readonly wanted_input?: string | undefined;
  /** What the terminal shows. */
  readonly screen?: string | undefined;
  readonly pty_note?: string | undefined;
  /** Present when readiness was asked for. */
  readonly ready?: boolean | undefined;
  readonly ready_note?: string | undefined;
  /** Processes the command left behind: pid and program. */
  readonly still_running?: readonly string[] | undefined;
  /** Present in the strict sandbox: what it means, and the way out. */
  readonly sandboxed?: string | undefined;
  /** What the sandbox has probably refused, and how to ask for it. */
  readonly sandbox_note?: string | undefined;
  /** Programs that were still running when the command ended; they ended with the sandbox. */
  readonly ended_with_command?: readonly string[] | undefined;
}

/** The same for a program that was started and is followed by itself. */
export function heldFields(
  process: TrackedProcess,
  seen: Pick<SeenEnd, "output" | "exitCode"> & { readonly told: ToldUnguarded },
): Partial<TerminalOutput> {
  const { told, ...end } = seen;
  const held = process.heldBy?.({ ...end, stderr: "", timedOut: false, cancelled: false });
  return sandboxFields(held?.sandbox, told.once(held?.unguarded));
}

/** That nothing holds commands back is said with the first result of a session. */
export class ToldUnguarded {
  #told = false;

  once(words: string | undefined): string | undefined {
    if (words === undefined || this.#told) return undefined;
    this.#told = true;
    return words;
  }

  close(): void {}
}

export function sandboxFields(
  report: SandboxReport | undefined,
  unguarded?: string | undefined,
): Partial<TerminalOutput> {
  return {
    sandboxed: sandboxedWord(report),
    sandbox_note: unguarded ?? denialNote(report),
    ended_with_command: report?.ended,
  };
}

export function presentTerminal(out: TerminalOutput): {
  readonly model: readonly Content[];
  readonly human: string;
} {
  const lines = [(out.screen ?? out.output).replace(/\n$/, "")];
  if (out.session_id !== undefined) {
    const ready =
      out.ready_note === undefined ? "" : `; ${out.ready ? "ready" : "not ready"}: ${out.ready_note}`;
    lines.push(`${out.status ?? "running"}: ${out.session_id}${ready}`);
  }
  if (out.error !== undefined) lines.push(out.error);
  else if (out.exit_code !== null && out.exit_code !== 0) {
    const meaning = out.exit_code_meaning === undefined ? "" : ` (${out.exit_code_meaning})`;
    lines.push(`exit code ${out.exit_code}${meaning}`);
  }
  if (out.still_running !== undefined) lines.push(`still running: ${out.still_running.join(", ")}`);
  if (out.sandbox_note !== undefined) lines.push(out.sandbox_note);
  else if (out.sandboxed !== undefined) lines.push(`sandboxed (${out.sandboxed})`);
  if (out.ended_with_command !== undefined) {
    lines.push(`ended with the command: ${out.ended_with_command.join(", ")}`);
  }
  return { model: [text(JSON.stringify(out))], human: lines.filter((line) => line !== "").join("\n") };
}
