import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { ExecResult } from "../../env/environment.js";
import { looksLikePrompt } from "../../env/pty/prompt.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { exitMeaning } from "./exit-notes.js";
import { foregroundRefusal } from "./foreground.js";
import type { PreparedSudo } from "./sudo.js";
import { sandboxFields, type TerminalOutput, ToldUnguarded } from "./terminal-output.js";
import { wideningOf } from "./widen.js";
import { workingDirectory } from "./workdir.js";

const DEFAULT_OUTPUT_CHARS = 50_000;

export interface ForegroundArguments {
  readonly command: string;
  /** Seconds. */
  readonly timeout: number;
  readonly workdir?: string | undefined;
  readonly pty?: boolean | undefined;
  readonly widen?: readonly string[] | undefined;
}

/** Runs a command to its end; one in a terminal also until it waits for input. */
export async function runInForeground(args: ForegroundArguments, ctx: CallContext): Promise<TerminalOutput> {
  const refusal = foregroundRefusal(args.command);
  if (refusal !== undefined) throw new ToolError(refusal.message, refusal);
  if (args.pty === true) {
    const { runInTerminal } = await import("./terminal-run.js");
    return runInTerminal(args, ctx);
  }
  const { command, timeout } = args;
  const cwd = workingDirectory(args.workdir, ctx);
  const sandbox = wideningOf(args.widen);
  const maxOutputChars = outputLimit(ctx);
  const told = ctx.keep(ToldUnguarded);
  const sudo = await withSudo(command, { cwd, ctx });
  const result = await withConnectRetries(
    () =>
      ctx.environment.exec({
        command: sudo?.command ?? command,
        stdin: sudo?.stdin,
        cwd,
        timeoutMs: timeout * 1000,
        signal: ctx.signal,
        maxOutputChars,
        onChunk: (chunk) => ctx.progress({ chunk }),
        sandbox,
      }),
    { signal: ctx.signal, onRetry: (message) => ctx.progress({ message }) },
  );
  const place = { command, timeout, cwd: result.cwd ?? cwd, environment: ctx.environment.name };
  const remark = sudo?.remark(result);
  const unguarded = told.once(result.unguarded);
  const output = outputOf({ ...result, unguarded }, place);
  return remark === undefined ? output : { ...output, hint: remark };
}

/** Only for those who use it: it is a rare guest, and asking it takes a command of its own. */
async function withSudo(
  command: string,
  { cwd, ctx }: { readonly cwd: string; readonly ctx: CallContext },
): Promise<PreparedSudo | undefined> {
  if (!command.includes("sudo")) return undefined;
  const { prepareSudo, SudoMemory, usesSudo } = await import("./sudo.js");
  if (!usesSudo(command)) return undefined;
  return prepareSudo({
    command,
    memory: ctx.keep(SudoMemory),
    given: ctx.secrets.get("SUDO_PASSWORD"),
    signal: ctx.signal,
    cwd,
    exec: (request) => ctx.environment.exec(request),
    ask: (question) => ctx.ask(question),
    hide: (value) => ctx.secrets.add("sudo password", value),
  });
}

export function outputLimit({ settings }: CallContext): number {
  const asked = settings.max_output_chars;
  return typeof asked === "number" && asked > 0 ? asked : DEFAULT_OUTPUT_CHARS;
}

function outputOf(
  result: ExecResult,
  place: {
    readonly command: string;
    readonly timeout: number;
    readonly cwd: string;
    readonly environment: string;
  },
): TerminalOutput {
  const { command, timeout, cwd, environment } = place;
  const output = stripVTControlCharacters(result.output);
  const error = endError(result, timeout);
  const stopped = result.timedOut || result.cancelled;
  const meaning = stopped ? undefined : exitMeaning(command, result.exitCode);
  const hint = result.timedOut ? waitingHint(output) : undefined;
  return {
    output,
    exit_code: result.exitCode,
    error,
    ...(meaning !== undefined && { exit_code_meaning: meaning }),
    hint,
    duration_ms: result.durationMs,
    truncated: result.truncated,
    cwd,
    environment,
    still_running: result.stillRunning?.map(({ pid, command: program }) => `${pid} (${program})`),
    ...sandboxFields(result.sandbox, result.unguarded),
  };
}

/** Most programs end when there is nothing to read; some wait for a person all the same. */
function waitingHint(output: string): string | undefined {
  const wanted = looksLikePrompt(output);
  if (wanted === undefined) return undefined;
  return (
    `Its last line looks as if it waits for input (${wanted}), which it cannot get here. Use an option that ` +
    "answers beforehand (such as --yes), or call again with pty: true."
  );
}

/** What stopped a command from outside; its own exit code is information, not an error. */
export function endError(
  end: { readonly timedOut: boolean; readonly cancelled: boolean },
  timeout: number,
): string | undefined {
  if (end.timedOut) return `Timed out after ${timeout} s; the command and everything it started was ended.`;
  if (end.cancelled) return "Cancelled; the command and everything it started was ended.";
  return undefined;
}

const RETRIES = 3;
const FIRST_PAUSE_MS = 500;

/**
 * Tries again when an environment elsewhere could not be reached, but only when the error says that nothing
 * was started there: running a command twice is worse than not running it.
 */
export async function withConnectRetries<T>(
  work: () => Promise<T>,
  options: { readonly signal: AbortSignal; readonly onRetry: (message: string) => void },
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RETRIES || options.signal.aborted || !neverStarted(error)) throw error;
      const pause = FIRST_PAUSE_MS * 2 ** attempt;
      options.onRetry(`not reached, trying again in ${pause} ms`);
      await delay(pause, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

function neverStarted(error: unknown): boolean {
  return (
    ToolError.isInstance(error) && error.code === "unavailable" && error.details?.nothing_started === true
  );
}
