import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { isAbsolute } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import { childEnvironment, refuseOversized } from "./child-env.js";
import { type ChildStdio, openChildStdio } from "./child-stdio.js";
import { argumentVector, confinedVector, readReport } from "./command-line.js";
import type { ExecRequest, ExecResult } from "../environment.js";
import type { PipeStock } from "./pipes.js";
import {
  EXEC_MARK,
  endTree,
  endWithThisProcess,
  groupGone,
  leftInGroup,
  type Survivor,
} from "./process-tree.js";
import { sandboxFailed, sandboxReport, withRefusedNames } from "../sandbox/report.js";
import type { Confinement, Sandbox } from "../sandbox/sandbox.js";

/** How long output is awaited after the shell is gone; a grandchild may hold the pipe for hours. */
const DRAIN_MS = 300;
const MAX_TIMER_MS = 2_147_483_647;

export interface ProcessHost {
  readonly env: NodeJS.ProcessEnv;
  readonly passthrough: readonly string[];
  readonly pipes: PipeStock;
  /** Present when commands run in a sandbox. */
  readonly sandbox?: Sandbox | undefined;
}

/** Starts one command in a process group of its own and follows it to its end. The cwd must exist. */
export async function runProcess(request: ExecRequest, host: ProcessHost): Promise<ExecResult> {
  if (request.signal.aborted) return neverStarted();
  const mark = randomUUID();
  const env = childEnvironment({
    parent: host.env,
    passthrough: host.passthrough,
    added: { ...request.env, [EXEC_MARK]: mark },
  });
  const plain = argumentVector(request);
  refuseOversized(plain, env);
  if (host.sandbox === undefined) return follow({ request, mark, argv: plain, env, host });
  const confinement = await host.sandbox.confine({
    cwd: request.cwd,
    workspace: request.workspace,
    widening: request.sandbox,
    program: programPath(request.command),
    env,
  });
  let result: ExecResult;
  let changed: readonly string[] = [];
  try {
    const argv = [...confinement.argv, ...confinedVector(request, confinement.limits)];
    result = await follow({ request, mark, argv, env: confinement.env, host, confinement });
  } finally {
    changed = await confinement.release();
  }
  return changed.length === 0 ? result : withRefusedNames(result, changed);
}

/** Only of an argument vector: what a shell line names was written by a model. */
function programPath(command: ExecRequest["command"]): string | undefined {
  const program = typeof command === "string" ? undefined : command[0];
  return program !== undefined && isAbsolute(program) ? program : undefined;
}

interface Run {
  readonly request: ExecRequest;
  readonly mark: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly host: ProcessHost;
  readonly confinement?: Confinement;
}

async function follow(run: Run): Promise<ExecResult> {
  const { request, argv, confinement } = run;
  const started = performance.now();
  const streams = await openChildStdio(request, {
    pipes: run.host.pipes,
    report: confinement !== undefined || typeof request.command === "string",
    filter: confinement?.filter,
  });
  const child = start({ argv, cwd: confinement === undefined ? request.cwd : "/", env: run.env, streams });
  const ended = streams.connect(child);
  const exit = await followToExit(child, run);
  if ("spawnError" in exit) {
    if (confinement !== undefined) throw sandboxFailed(exit.spawnError.message);
    return spawnFailed(exit.spawnError, argv, performance.now() - started);
  }

  // Unreferenced: the open streams keep the process alive, the timer alone must not.
  await Promise.race([ended, delay(DRAIN_MS, undefined, { ref: false })]);
  const { output, stderr, report } = streams.finish();
  const shell = readReport(report, confinement !== undefined);
  if (!shell.begun && exit.ended === "itself") throw sandboxFailed(output.text + stderr.text);
  const survivors = exit.survivors.length === 0 ? "" : survivorNotice(exit.survivors);
  const wanted = confinement === undefined && exit.ended === "itself" && child.pid !== undefined;
  const left = wanted ? await leftInGroup(child.pid ?? 0) : [];
  const result: ExecResult = {
    output: output.text + survivors,
    stderr: stderr.text,
    exitCode: exit.code,
    timedOut: exit.ended === "timeout",
    cancelled: exit.ended === "cancelled",
    truncated: output.truncated || stderr.truncated,
    totalBytes: output.totalBytes + stderr.totalBytes,
    durationMs: Math.round(performance.now() - started),
    ...(shell.cwd === undefined ? {} : { cwd: shell.cwd }),
    ...(left.length > 0 && { stillRunning: left }),
  };
  return confinement === undefined
    ? result
    : { ...result, sandbox: sandboxReport({ result, ended: shell.ended, network: confinement.network }) };
}

function start(child: {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
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

async function followToExit(child: ChildProcess, run: Run): Promise<Exit> {
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
  const limit = stopRequest(run.request);
  const held = run.confinement !== undefined;
  try {
    const first = await Promise.race([exited, limit.asked]);
    if (typeof first === "number") {
      return { code: first, ended: "itself", survivors: held ? await groupGone(pid) : [] };
    }
    if (typeof first === "object") return { spawnError: first };
    const survivors = await endTree({ pid, mark: run.mark, held });
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
