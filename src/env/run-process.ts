import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../tool/errors.js";
import { childEnvironment, refuseOversized } from "./child-env.js";
import { type ChildStdio, CWD_DESCRIPTOR, openChildStdio } from "./child-stdio.js";
import type { ExecRequest, ExecResult } from "./environment.js";
import type { PipeStock } from "./pipes.js";
import { EXEC_MARK, endTree, endWithThisProcess, leftInGroup, type Survivor } from "./process-tree.js";

/** How long output is awaited after the shell is gone; a grandchild may hold the pipe for hours. */
const DRAIN_MS = 300;
const MAX_TIMER_MS = 2_147_483_647;

export interface ProcessHost {
  readonly env: NodeJS.ProcessEnv;
  readonly passthrough: readonly string[];
  readonly pipes: PipeStock;
}

/** Starts one command in a process group of its own and follows it to its end. The cwd must exist. */
export async function runProcess(request: ExecRequest, host: ProcessHost): Promise<ExecResult> {
  const started = performance.now();
  if (request.signal.aborted) return neverStarted();
  const mark = randomUUID();
  const env = childEnvironment({
    parent: host.env,
    passthrough: host.passthrough,
    added: { ...request.env, [EXEC_MARK]: mark },
  });
  const argv = argumentVector(request);
  refuseOversized(argv, env);
  const streams = await openChildStdio(request, host.pipes);
  const child = start({ argv, cwd: request.cwd, env, streams });
  const ended = streams.connect(child);
  const exit = await followToExit(child, request, mark);
  if ("spawnError" in exit) return spawnFailed(exit.spawnError, argv, performance.now() - started);

  // Unreferenced: the open streams keep the process alive, the timer alone must not.
  await Promise.race([ended, delay(DRAIN_MS, undefined, { ref: false })]);
  const { output, stderr, cwd } = streams.finish();
  const survivors = exit.survivors.length === 0 ? "" : survivorNotice(exit.survivors);
  const left = exit.ended === "itself" && child.pid !== undefined ? await leftInGroup(child.pid) : [];
  return {
    output: output.text + survivors,
    stderr: stderr.text,
    exitCode: exit.code,
    timedOut: exit.ended === "timeout",
    cancelled: exit.ended === "cancelled",
    truncated: output.truncated || stderr.truncated,
    totalBytes: output.totalBytes + stderr.totalBytes,
    durationMs: Math.round(performance.now() - started),
    ...(cwd === undefined ? {} : { cwd }),
    ...(left.length > 0 && { stillRunning: left }),
  };
}

/**
 * The working directory is reported at exit on a descriptor of its own, moved high so that a script using
 * the low ones does not collide with it. `eval` keeps this line out of the shell's own error messages.
 */
const SHELL_LINE =
  `exec 251>&${CWD_DESCRIPTOR} ${CWD_DESCRIPTOR}>&-; ` +
  "trap '{ builtin pwd -P >&251; } 2>/dev/null' EXIT; " +
  'HERMES_LINE=$1; shift; eval "$HERMES_LINE"';

function argumentVector(request: ExecRequest): readonly string[] {
  const { command } = request;
  refuseNul(typeof command === "string" ? [command] : command);
  // No startup files: bash reads .bashrc even for -c when its stdin looks like a network connection.
  if (typeof command === "string") {
    return ["bash", "--noprofile", "--norc", "-c", SHELL_LINE, "bash", command];
  }
  if (command.length === 0 || command[0] === "") {
    throw new ToolError("The command is empty: there is no program to start.", { code: "invalid_arguments" });
  }
  return command;
}

function refuseNul(words: readonly string[]): void {
  if (!words.some((word) => word.includes("\0"))) return;
  throw new ToolError("The command holds a NUL byte, which no program can receive as an argument.", {
    code: "invalid_arguments",
    hint: "Remove the NUL byte, or write the data to a file.",
  });
}

function start(child: {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  streams: ChildStdio;
}): ChildProcess {
  const [program = "", ...args] = child.argv;
  try {
    return spawn(program, args, {
      cwd: child.cwd,
      env: child.env,
      detached: true,
      stdio: child.streams.stdio,
    });
  } catch (error) {
    child.streams.abandon();
    // EAGAIN, EMFILE, E2BIG and the like arrive synchronously.
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new ToolError(`The command could not be started (${code}).`, {
      cause: error,
      hint: "The machine may be out of processes, descriptors or memory; end something and try again.",
    });
  }
}

type Exit =
  | { readonly spawnError: NodeJS.ErrnoException }
  | {
      readonly code: number;
      readonly ended: "itself" | "timeout" | "cancelled";
      readonly survivors: readonly Survivor[];
    };

async function followToExit(child: ChildProcess, request: ExecRequest, mark: string): Promise<Exit> {
  const exited = new Promise<number | NodeJS.ErrnoException>((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  const { pid } = child;
  if (pid === undefined) {
    const error = await exited;
    return { spawnError: typeof error === "number" ? new Error("no process id") : error };
  }
  const unwatch = endWithThisProcess(pid);
  const limit = stopRequest(request);
  try {
    const first = await Promise.race([exited, limit.asked]);
    if (typeof first === "number") return { code: first, ended: "itself", survivors: [] };
    if (typeof first === "object") return { spawnError: first };
    const survivors = await endTree({ pid, mark });
    if (!survivors.some((survivor) => survivor.pid === pid)) await exited;
    return { code: first === "timeout" ? 124 : 130, ended: first, survivors };
  } finally {
    limit.clear();
    unwatch();
  }
}

function stopRequest(request: ExecRequest) {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const asked = new Promise<"timeout" | "cancelled">((resolve) => {
    onAbort = () => resolve("cancelled");
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) resolve("cancelled");
    timer = setTimeout(() => resolve("timeout"), Math.min(Math.max(1, request.timeoutMs), MAX_TIMER_MS));
  });
  const clear = () => {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
  };
  return { asked, clear };
}

function survivorNotice(survivors: readonly Survivor[]): string {
  const names = survivors.map(({ pid, command }) => `${pid} (${command})`).join(", ");
  return `\n[still running, could not be ended: ${names}]\n`;
}

const nothing = { output: "", stderr: "", timedOut: false, truncated: false, totalBytes: 0 } as const;

function neverStarted(): ExecResult {
  return { ...nothing, exitCode: 130, cancelled: true, durationMs: 0 };
}

/** What a shell would answer for a program it cannot start. */
function spawnFailed(error: NodeJS.ErrnoException, argv: readonly string[], elapsedMs: number): ExecResult {
  const program = argv[0] ?? "";
  if (error.code !== "ENOENT" && error.code !== "EACCES") {
    throw new ToolError(`${program} could not be started (${error.code ?? error.message}).`, {
      cause: error,
    });
  }
  const missing = error.code === "ENOENT";
  return {
    ...nothing,
    stderr: `${program}: ${missing ? "command not found" : "permission denied"}\n`,
    exitCode: missing ? 127 : 126,
    cancelled: false,
    durationMs: Math.round(elapsedMs),
  };
}
