import { setTimeout as delay } from "node:timers/promises";
import type { ProcessInfo, TrackedProcess } from "../../env/processes/types.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { exitMeaning } from "./exit-notes.js";
import type { TerminalOutput } from "./terminal-output.js";
import { typedEffects, typedText } from "./typed-input.js";

const POLL_CHARS = 1_000;
const WAIT_CHARS = 2_000;
const DEFAULT_WAIT_S = 180;
/** An answer counts as complete when nothing more comes for this long. */
const SETTLED_MS = 300;
const LONGEST_SETTLE_MS = 3_000;

export interface ProcessState {
  readonly session_id: string;
  readonly status: ProcessInfo["status"];
  readonly command: string;
  readonly environment: string;
  readonly cwd: string;
  readonly pid?: number | undefined;
  readonly uptime_seconds: number;
  readonly exit_code?: number | undefined;
  readonly exit_code_meaning?: string | undefined;
  readonly lost?: string | undefined;
  readonly pty?: boolean | undefined;
  readonly handed_off?: boolean | undefined;
  readonly session?: string | undefined;
}

export interface ProcessReport extends ProcessState {
  readonly output?: string | undefined;
  readonly screen?: string | undefined;
  readonly waits_for_input?: boolean | undefined;
  readonly total_lines?: number | undefined;
  readonly first_line?: number | undefined;
  readonly earlier_output_dropped?: boolean | undefined;
  readonly timed_out?: boolean | undefined;
  readonly survivors?: readonly string[] | undefined;
  readonly note?: string | undefined;
}

export type ProcessAnswer = { readonly processes: readonly ProcessState[] } | ProcessReport | TerminalOutput;

export function listProcesses(ctx: CallContext): ProcessAnswer {
  return { processes: ctx.processes.list().map((info) => ({ ...stateOf(info), session: info.session })) };
}

export function pollProcess(process: TrackedProcess): ProcessReport {
  return { ...stateOf(process.info), output: process.tail(POLL_CHARS) };
}

export function showLog(
  process: TrackedProcess,
  { offset, limit }: { readonly offset?: number | undefined; readonly limit: number },
): ProcessReport {
  const { lines, total, dropped } = process.lines({ limit, offset });
  return {
    ...stateOf(process.info),
    output: lines.map((line) => `${line}\n`).join(""),
    total_lines: total,
    first_line: offset ?? Math.max(0, total - limit),
    earlier_output_dropped: dropped || undefined,
  };
}

/** A process that still runs when the time is over is no error. */
export async function waitFor(
  process: TrackedProcess,
  { timeout, ctx }: { readonly timeout: number | undefined; readonly ctx: CallContext },
): Promise<ProcessReport> {
  const configured = ctx.settings.terminal_timeout;
  const longest = typeof configured === "number" && configured > 0 ? configured : DEFAULT_WAIT_S;
  const seconds = Math.min(timeout ?? longest, longest);
  const stop = new AbortController();
  const signal = AbortSignal.any([ctx.signal, stop.signal]);
  const ended = await Promise.race([
    process.ended.then(() => true),
    delay(seconds * 1000, false, { signal }).catch(() => false),
  ]);
  stop.abort();
  const note =
    timeout !== undefined && timeout > longest ? `waited ${longest} s at most, not ${timeout} s` : undefined;
  return {
    ...stateOf(process.info),
    output: process.tail(WAIT_CHARS),
    timed_out: !ended,
    note,
  };
}

export async function kill(process: TrackedProcess): Promise<ProcessReport> {
  const before = process.info.status;
  const survivors = await process.kill();
  if (survivors.length === 0) await process.ended;
  return {
    ...stateOf(process.info),
    output: process.tail(POLL_CHARS),
    note: before === "running" ? undefined : "it had ended before",
    survivors: survivors.length > 0 ? survivors.map(({ pid, command }) => `${pid} (${command})`) : undefined,
  };
}

/** Types and waits for what the program makes of it. */
export async function typeInto(
  process: TrackedProcess,
  typed: { readonly data: string; readonly submit: boolean; readonly ctx: CallContext },
): Promise<ProcessReport> {
  const { data, submit, ctx } = typed;
  const terminal = await process.screen();
  requireSameJudgement(process, typed);
  const since = performance.now();
  const newLine = terminal === undefined ? "\n" : "\r";
  await process.write(typedText(data, terminal) + (submit ? newLine : ""));
  await settled(process, { since, signal: ctx.signal });
  return shown(process);
}

/** What stands in the line may have changed while the call waited for its turn. */
function requireSameJudgement(
  process: TrackedProcess,
  { data, submit, ctx }: { readonly data: string; readonly submit: boolean; readonly ctx: CallContext },
): void {
  const effects = typedEffects(
    { process: process.info.id, data, submit, pty: process.info.pty },
    {
      cwd: ctx.session.cwd,
      environment: ctx.environment.name,
      pendingInput: () => process.pendingInput,
      sentInput: () => process.sentInput,
      commandOf: () => process.info.command,
    },
  );
  for (const effect of effects) {
    const refusal = ctx.refusal(effect);
    if (refusal === undefined) continue;
    throw new ToolError(`Not typed, because of what stands in the line by now: ${refusal}`, {
      code: "denied",
      hint: "Look at the screen, then type again.",
    });
  }
}

export async function closeInput(process: TrackedProcess): Promise<ProcessReport> {
  const since = performance.now();
  await process.closeInput();
  await settled(process, { since });
  return shown(process);
}

export function handOff(process: TrackedProcess): ProcessReport {
  process.handOff();
  const { handedOff } = process.info;
  const note = handedOff
    ? "it goes on when this session ends, until the runtime does"
    : "it belongs to the session above now and ends with that one";
  return { ...stateOf(process.info), note };
}

export async function showScreen(process: TrackedProcess): Promise<ProcessReport> {
  const report = await shown(process);
  return process.info.pty ? report : { ...report, note: "it has no terminal; this is the end of its output" };
}

export async function resize(
  process: TrackedProcess,
  { columns, rows }: { readonly columns?: number | undefined; readonly rows?: number | undefined },
): Promise<ProcessReport> {
  if (columns === undefined || rows === undefined) {
    throw new ToolError("The action resize needs columns and rows.", { code: "invalid_arguments" });
  }
  const since = performance.now();
  process.resize({ columns, rows });
  await settled(process, { since });
  return shown(process);
}

/** Waits until the program has been silent for a moment, has ended, or does not stop printing. */
export async function settled(
  process: TrackedProcess,
  { since, signal }: { readonly since: number; readonly signal?: AbortSignal },
): Promise<void> {
  let ended = process.info.status !== "running";
  void process.ended.then(() => {
    ended = true;
  });
  const deadline = since + LONGEST_SETTLE_MS;
  for (let now = since; !ended && now < deadline && signal?.aborted !== true; now = performance.now()) {
    const silent = Math.min(process.quietMs, now - since);
    if (silent >= SETTLED_MS) return;
    await Promise.race([process.ended, delay(Math.max(10, SETTLED_MS - silent))]);
  }
}

async function shown(process: TrackedProcess): Promise<ProcessReport> {
  const [screen, waits] = await Promise.all([process.screen(), process.waitsForInput()]);
  return {
    ...stateOf(process.info),
    ...(screen === undefined ? { output: process.tail(POLL_CHARS) } : { screen: screen.text }),
    waits_for_input: waits === true || undefined,
  };
}

export function stateOf(info: ProcessInfo): ProcessState {
  const meaning = info.exitCode === undefined ? undefined : exitMeaning(info.command, info.exitCode);
  return {
    session_id: info.id,
    status: info.status,
    command: info.command,
    environment: info.environment,
    cwd: info.cwd,
    pid: info.pid,
    uptime_seconds: Math.round(((info.endedAt ?? Date.now()) - info.startedAt) / 100) / 10,
    exit_code: info.exitCode,
    exit_code_meaning: meaning,
    lost: info.lost,
    pty: info.pty || undefined,
    handed_off: info.handedOff || undefined,
  };
}
