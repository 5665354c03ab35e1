import type { Readiness, TrackedProcess } from "../../env/processes/types.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { exitMeaning } from "./exit-notes.js";
import { backgroundRefusal } from "./foreground.js";
import { heldFields, type TerminalOutput, ToldUnguarded } from "./terminal-output.js";
import { wideningOf } from "./widen.js";
import { workingDirectory } from "./workdir.js";

/** What a terminal gets when nobody says otherwise. */
export const TERMINAL_SIZE = { columns: 120, rows: 40 } as const;
const SHOWN_CHARS = 4_000;
export const READY_TIMEOUT_S = 30;
const LONGEST_READY_S = 600;

/** When a background process counts as ready; the terminal tool says in words what the fields mean. */
export const READY_PARAMETER = {
  type: "object",
  properties: {
    port: { type: "integer", minimum: 1, maximum: 65_535 },
    pattern: { type: "string", minLength: 1 },
    alive_seconds: { type: "number", minimum: 0, maximum: LONGEST_READY_S },
    timeout: { type: "number", exclusiveMinimum: 0, maximum: LONGEST_READY_S },
  },
  additionalProperties: false,
} as const;

export interface BackgroundArguments {
  readonly command: string;
  readonly workdir?: string | undefined;
  readonly widen?: readonly string[] | undefined;
  readonly pty?: boolean | undefined;
  readonly notify_on_complete?: boolean | undefined;
  readonly watch_patterns?: readonly string[] | undefined;
  readonly ready?:
    | {
        readonly port?: number;
        readonly pattern?: string;
        readonly alive_seconds?: number;
        readonly timeout?: number;
      }
    | undefined;
}

/** The longest time the wait for readiness may take. */
export function readyWaitMs({ ready }: Pick<BackgroundArguments, "ready">): number {
  if (ready === undefined) return 1_000;
  return Math.max(ready.timeout ?? READY_TIMEOUT_S, ready.alive_seconds ?? 0) * 1000 + 1_000;
}

/** Starts a command that goes on by itself and tells how it stands after a moment. */
export async function startBackground(args: BackgroundArguments, ctx: CallContext): Promise<TerminalOutput> {
  const refusal = backgroundRefusal(args.command);
  if (refusal !== undefined) throw new ToolError(refusal.message, refusal);
  const started = performance.now();
  const cwd = workingDirectory(args.workdir, ctx);
  const sandbox = wideningOf(args.widen);
  const ready = readinessOf(args.ready);
  const process = await ctx.processes.start({
    environment: ctx.environment,
    command: args.command,
    title: args.command,
    cwd,
    callId: ctx.callId,
    signal: ctx.signal,
    ...(args.pty === true && { pty: TERMINAL_SIZE }),
    sandbox,
    notifyOnComplete: args.notify_on_complete,
    ...(args.watch_patterns !== undefined &&
      args.watch_patterns.length > 0 && { watchPatterns: args.watch_patterns }),
    ready,
  });
  const stands = howItStands(args.command, process);
  if (stands.status !== "running") ctx.processes.seenEnd(process.info.id);
  const { output, exit_code } = stands;
  return {
    ...stands,
    ...heldFields(process, { output, exitCode: exit_code ?? 0, told: ctx.keep(ToldUnguarded) }),
    duration_ms: Math.round(performance.now() - started),
  };
}

function readinessOf(ready: BackgroundArguments["ready"]): Readiness | undefined {
  if (ready === undefined) return undefined;
  const { port, pattern, alive_seconds, timeout } = ready;
  if (port === undefined && pattern === undefined && alive_seconds === undefined) {
    throw new ToolError("ready says nothing to wait for.", {
      code: "invalid_arguments",
      hint: "Give a port, a pattern or alive_seconds.",
    });
  }
  return { port, pattern, aliveSeconds: alive_seconds, timeoutSeconds: timeout };
}

function howItStands(command: string, process: TrackedProcess): Omit<TerminalOutput, "duration_ms"> {
  const { info, ready } = process;
  const runs = info.status === "running";
  const code = info.exitCode;
  const meaning = code === undefined ? undefined : exitMeaning(command, code);
  const error = !runs
    ? endedEarly({ code, lost: info.lost, wanted: ready !== undefined })
    : ready?.ready === false
      ? `It runs, but is not ready: ${ready.why}.`
      : undefined;
  return {
    output: process.tail(SHOWN_CHARS),
    exit_code: runs ? null : (code ?? null),
    status: runs ? "running" : "exited",
    error,
    exit_code_meaning: meaning,
    ready: ready?.ready,
    ready_note: ready?.why,
    session_id: info.id,
    pid: info.pid,
    hint: [...process.notes, runs ? FOLLOW : "It has ended; its output is complete."].join(". "),
    truncated: info.outputBytes > SHOWN_CHARS,
    cwd: info.cwd,
    environment: info.environment,
  };
}

const FOLLOW = "Use the process tool with this session_id: poll, log, wait, write, kill";

function endedEarly(end: {
  readonly code: number | undefined;
  readonly lost: string | undefined;
  readonly wanted: boolean;
}): string | undefined {
  if (end.lost !== undefined) return `It was lost right after its start: ${end.lost}.`;
  if (end.code === 0 && !end.wanted) return undefined;
  return `It ended with exit code ${end.code} ${end.wanted ? "before it was ready" : "right after its start"}.`;
}
