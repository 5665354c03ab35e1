import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecRequest, ExecResult, Survivor } from "../environment.js";
import { OutputWindow } from "../output-window.js";
import { differences, parseExports } from "../shell-report.js";
import type { Connection } from "./connection.js";
import type { Probe } from "./probe.js";
import { lostWhileRunning } from "./remote-error.js";
import { type RemoteProgram, startProgram } from "./remote-program.js";

const MAX_TIMER_MS = 2_147_483_647;
/** A start that is still under way when its command is cancelled. */
const START_LIMIT_MS = 15_000;

/** Runs one command there to its end. */
export async function execThere(request: ExecRequest, connection: Connection): Promise<ExecResult> {
  if (request.signal.aborted) return neverStarted();
  const stop = stopRequest(request);
  try {
    const probe = await Promise.race([connection.ready(), stop.cancelled]);
    if (probe === undefined) return neverStarted();
    return await run({ request, connection, probe, stop });
  } finally {
    stop.clear();
  }
}

interface Run {
  readonly request: ExecRequest;
  readonly connection: Connection;
  readonly probe: Probe;
  readonly stop: ReturnType<typeof stopRequest>;
}

async function run({ request, connection, probe, stop }: Run): Promise<ExecResult> {
  const output = new OutputWindow(request.maxOutputChars);
  const stderr = request.separateStderr ? new OutputWindow(request.maxOutputChars) : undefined;
  const announce = announcer(request);
  const mark = randomUUID();
  const started = performance.now();
  const starting = startProgram({
    ...request,
    connection,
    probe,
    mark,
    streams: stderr === undefined ? "merged" : "apart",
    stdin: typeof request.stdin === "string" ? Buffer.from(request.stdin) : request.stdin,
    onStdout: (bytes) => announce(output.push(bytes)),
    onStderr: (bytes) => announce((stderr ?? output).push(bytes)),
  });
  const program = await startedOr({ starting, stop, lost: (why) => fail(connection, why, mark) });
  stop.startClock();
  const first = await Promise.race([program.over, stop.asked]);
  let ended: "itself" | "timeout" | "cancelled" = "itself";
  let exitCode = 0;
  let survivors: readonly Survivor[] = [];
  if (typeof first === "string") {
    const end = await program.end();
    if ("lost" in end) throw lostWhileRunning(connection.name, end.lost);
    survivors = end.survivors;
    ended = first;
    exitCode = first === "timeout" ? 124 : 130;
    // A command that could not begin says so, however late.
    if (survivors.length === 0) await program.over;
  } else {
    if ("lost" in first) throw lostWhileRunning(connection.name, first.lost);
    exitCode = first.exitCode;
  }
  const shown = output.finish();
  const errors = stderr?.finish();
  const { cwd, vars, left } = program.inbox;
  return {
    output: shown.text + survivorNotice(survivors),
    stderr: errors?.text ?? "",
    exitCode,
    timedOut: ended === "timeout",
    cancelled: ended === "cancelled",
    truncated: shown.truncated || errors?.truncated === true,
    totalBytes: shown.totalBytes + (errors?.totalBytes ?? 0),
    durationMs: Math.round(performance.now() - started),
    cwd: cwd?.startsWith("/") ? cwd : undefined,
    exported: vars && differences(probe.base, parseExports(vars)),
    stillRunning: ended === "itself" ? left : undefined,
  };
}

function fail(connection: Connection, why: string, mark: string): never {
  connection.noteLost(why, mark);
  throw lostWhileRunning(connection.name, why);
}

/** The started program. A start that neither succeeds nor fails after a cancellation is a lost connection. */
async function startedOr(options: {
  readonly starting: Promise<RemoteProgram>;
  readonly stop: Run["stop"];
  lost(why: string): never;
}): Promise<RemoteProgram> {
  const { starting, stop } = options;
  const tooLate = stop.cancelled.then(() => delay(START_LIMIT_MS, undefined, { ref: false }));
  const program = await Promise.race([starting, tooLate]);
  if (program !== undefined) return program;
  starting.then((late) => late.end()).catch(() => {});
  return options.lost("the command had not started when it was cancelled");
}

function stopRequest(request: ExecRequest) {
  let timer: NodeJS.Timeout | undefined;
  let resolve = (_why: "timeout" | "cancelled") => {};
  const asked = new Promise<"timeout" | "cancelled">((settle) => {
    resolve = settle;
  });
  let onAbort = () => {};
  const cancelled = new Promise<undefined>((settle) => {
    onAbort = () => {
      resolve("cancelled");
      settle(undefined);
    };
  });
  request.signal.addEventListener("abort", onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  return {
    asked,
    cancelled,
    startClock() {
      const limit = Math.min(Math.max(1, request.timeoutMs), MAX_TIMER_MS);
      timer = setTimeout(() => resolve("timeout"), limit);
    },
    clear() {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", onAbort);
    },
  };
}

function announcer(request: ExecRequest): (text: string) => void {
  const { onChunk } = request;
  if (onChunk === undefined) return () => {};
  return (text) => {
    try {
      if (text !== "") onChunk(text);
    } catch {
      // The command must not suffer from its listener.
    }
  };
}

function survivorNotice(survivors: readonly Survivor[]): string {
  if (survivors.length === 0) return "";
  const names = survivors.map(({ pid, command }) => `${pid} (${command})`).join(", ");
  return `\n[still running, could not be ended: ${names}]\n`;
}

function neverStarted(): ExecResult {
  return {
    output: "",
    stderr: "",
    exitCode: 130,
    timedOut: false,
    cancelled: true,
    truncated: false,
    totalBytes: 0,
    durationMs: 0,
  };
}
