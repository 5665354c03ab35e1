import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import type { ExecRequest, ExecResult, Survivor } from "../environment.js";
import { OutputWindow } from "../output-window.js";
import { hiddenFolder } from "../sandbox/plan.js";
import { guardReport, sandboxFailed, sandboxReport, withRefusedNames } from "../sandbox/report.js";
import type { Released } from "../sandbox/sandbox.js";
import { differences, parseExports } from "../shell-report.js";
import { requireDirectory } from "../working-folder.js";
import type { Boundary } from "./boundaries.js";
import type { Child, ChildExit, RawReport, StartFailure } from "./child.js";
import { launcherLost } from "./child.js";
import { argumentVector, confinedVector, readReport } from "./command-line.js";
import { type Prepared, type ProcessHost, prepareProgram, shutInBy } from "./prepare.js";
import { endTree, groupGone, leftInGroup } from "./process-tree.js";
import { watchUsage } from "./usage-watch.js";

/** How long output is awaited after the shell is gone; a grandchild may hold the pipe for hours. */
const DRAIN_MS = 300;
const VECTORS = { plain: argumentVector, confined: confinedVector };
const MAX_TIMER_MS = 2_147_483_647;

/** Starts one command in a process group of its own and follows it to its end. */
export async function runProcess(request: ExecRequest, host: ProcessHost): Promise<ExecResult> {
  if (request.signal.aborted) return neverStarted();
  const prepared = await prepareProgram(request, host, VECTORS);
  const { confinement } = prepared;
  if (prepared.boundary !== undefined) return runInside(prepared.boundary, { request, prepared, host });
  if (confinement === undefined) return follow({ request, prepared, host });
  let result: ExecResult;
  let released: Released;
  try {
    result = await follow({ request, prepared, host });
  } finally {
    released = await confinement.release();
  }
  const { changed } = released;
  const reached = [...(result.reached ?? []), ...released.reached];
  const told = {
    ...result,
    confinedBy: confinement.confinedBy,
    reached: reached.length > 0 ? reached : undefined,
  };
  return changed.length === 0 ? told : withRefusedNames(told, changed);
}

async function runInside(boundary: Boundary, run: Run): Promise<ExecResult> {
  const leave = boundary.enter();
  let result: ExecResult;
  try {
    result = await follow(run);
  } finally {
    leave();
  }
  const told = {
    ...result,
    sandbox: guardReport(result, boundary.plan.mounts),
    confinedBy: shutInBy(run.prepared, run.request.confine),
  };
  const taken = boundary.taken();
  return taken.length === 0 ? told : withRefusedNames(told, taken);
}

interface Run {
  readonly request: ExecRequest;
  readonly prepared: Prepared;
  readonly host: ProcessHost;
}

async function follow(run: Run): Promise<ExecResult> {
  const { request, prepared, host } = run;
  const { confinement } = prepared;
  await request.ready;
  if (request.signal.aborted) return neverStarted();
  const started = performance.now();
  const listening = listener(request);
  const output = new OutputWindow(request.maxOutputChars);
  const stderr = new OutputWindow(request.maxOutputChars);
  const child = await host.start({
    argv: prepared.argv,
    cwd: prepared.cwd,
    env: prepared.env,
    mark: prepared.mark,
    line: shellLine(request, prepared),
    input: request.stdin === undefined ? "nothing" : { bytes: request.stdin },
    report: confinement !== undefined || typeof request.command === "string",
    filter: confinement?.filter,
    boundary: prepared.within,
    joinFiles: prepared.joinFiles,
    onOutput: (bytes) => listening(output, bytes),
    ...(request.separateStderr === true && { onStderr: (bytes: Buffer) => listening(stderr, bytes) }),
  });
  if ("stage" in child) return notStarted(child, run);
  const watch = confinement?.watched === undefined ? undefined : watchUsage(child.pid, confinement.watched);
  const exit = await followToExit(child, run);
  const excess = watch?.stop();
  if (exit.kind === "failed") return notStarted(exit, run);
  if (exit.kind === "lost") {
    await endTree({ pid: child.pid, mark: child.mark });
    throw launcherLost();
  }

  await outputArrived(child);
  child.letGo();
  const [out, err] = [output.finish(), stderr.finish()];
  const shell = readReport(exit.report, confinement !== undefined);
  if (!shell.begun && exit.ended === "itself") throw sandboxFailed(out.text + err.text);
  const survivors = exit.survivors.length === 0 ? "" : survivorNotice(exit.survivors);
  const left = confinement === undefined && exit.ended === "itself" ? await leftInGroup(child.pid) : [];
  const result: ExecResult = {
    output: out.text + survivors,
    stderr: err.text,
    exitCode: exit.code,
    timedOut: exit.ended === "timeout",
    cancelled: exit.ended === "cancelled",
    truncated: out.truncated || err.truncated,
    totalBytes: out.totalBytes + err.totalBytes,
    durationMs: Math.round(performance.now() - started),
    cwd: shell.cwd,
    exported:
      shell.exports === undefined
        ? undefined
        : exportedBy(shell.exports, { prepared, mark: child.mark, requested: request.env ?? {} }),
    stillRunning: left.length > 0 ? left : undefined,
    reached: excess && [excess],
  };
  return confinement === undefined
    ? result
    : { ...result, sandbox: sandboxReport({ result, ended: shell.ended, network: confinement.network }) };
}

/** What was printed before the end has been read, also when somebody still holds the streams. */
export async function outputArrived({ outputEnded }: Pick<Child, "outputEnded">): Promise<void> {
  // Unreferenced: the open streams keep the process alive, the timer alone must not.
  const late = delay(DRAIN_MS, undefined, { ref: false });
  // A process that was held up finds its timers over before it has looked at its pipes: one turn reads them.
  await Promise.race([outputEnded, late.then(() => nextTurn())]);
}

function shellLine({ command, env = {} }: ExecRequest, { base, confinement }: Prepared) {
  return confinement === undefined && typeof command === "string"
    ? { command, base, changes: env }
    : undefined;
}

/** Text is only made for somebody who listens. A listener that throws is not called again. */
function listener(request: ExecRequest): (window: OutputWindow, bytes: Buffer) => void {
  let wanted = request.onChunk !== undefined;
  return (window, bytes) => {
    if (!wanted) {
      window.add(bytes);
      return;
    }
    const text = window.push(bytes);
    if (text === "") return;
    try {
      request.onChunk?.(text);
    } catch {
      wanted = false;
    }
  };
}

type Exit =
  | Exclude<ChildExit, { kind: "exited" }>
  | {
      readonly kind: "exited";
      readonly code: number;
      readonly report: RawReport;
      readonly ended: "itself" | "timeout" | "cancelled";
      readonly survivors: readonly Survivor[];
    };

async function followToExit(child: Child, { request, prepared }: Run): Promise<Exit> {
  const limit = stopRequest(request);
  const { pid } = child;
  const held = prepared.confinement !== undefined;
  try {
    const first = await Promise.race([child.exited, limit.asked]);
    if (typeof first === "object") {
      if (first.kind !== "exited") return first;
      return { ...first, ended: "itself", survivors: held ? await groupGone(pid) : [] };
    }
    const survivors = await endTree({ pid, mark: child.mark, held });
    const exit = survivors.some((survivor) => survivor.pid === pid) ? undefined : await child.exited;
    const report = exit?.kind === "exited" ? exit.report : { text: "", secret: "" };
    return { kind: "exited", code: first === "timeout" ? 124 : 130, report, ended: first, survivors };
  } finally {
    limit.clear();
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

const nothing = {
  output: "",
  stderr: "",
  timedOut: false,
  truncated: false,
  totalBytes: 0,
  durationMs: 0,
} as const;

function neverStarted(): ExecResult {
  return { ...nothing, exitCode: 130, cancelled: true };
}

/** What a shell would answer for a program it cannot start. */
async function notStarted(failure: StartFailure, { request, prepared }: Run): Promise<ExecResult> {
  const { stage, code } = failure;
  if (prepared.confinement !== undefined) throw sandboxFailed(`${prepared.argv[0]}: ${code}`);
  // A missing folder looks like a missing program to those who cannot tell them apart.
  await requireDirectory(request.cwd);
  if (stage === "folder" && prepared.boundary !== undefined) throw hiddenFolder(request.cwd);
  const missing = code === "ENOENT" || code === "ENOTDIR";
  if (stage !== "program" || (!missing && code !== "EACCES")) throw cannotStart(prepared.argv, code);
  return {
    ...nothing,
    stderr: `${prepared.argv[0]}: ${missing ? "command not found" : "permission denied"}\n`,
    exitCode: missing ? 127 : 126,
    cancelled: false,
  };
}

export function cannotStart(argv: readonly string[], code: string): ToolError {
  return new ToolError(`${argv[0]} could not be started (${code}).`, {
    hint: "The machine may be out of processes, descriptors or memory; end something and try again.",
  });
}

/** Commands that follow each other mostly report the same, but for their mark. */
let last: { readonly text: string; readonly found: Readonly<Record<string, string>> } | undefined;

/**
 * What a shell leaves to the next command: what its request brought and what it changed itself, where that
 * differs from what every command gets. A sandbox sets some variables its own way; they do not count.
 */
export function exportedBy(
  report: string,
  run: {
    readonly prepared: Prepared;
    /** Of the shell, which may have waited for the command. */
    readonly mark: string;
    readonly requested: Readonly<Record<string, string | undefined>>;
  },
): Readonly<Record<string, string | undefined>> {
  const { prepared, requested } = run;
  const text = report.replace(run.mark, "");
  if (last?.text !== text) last = { text, found: parseExports(text) };
  const began = { ...prepared.env, ...prepared.confinement?.innerEnv };
  const changed = { ...requested, ...differences(began, last.found) };
  return Object.fromEntries(
    Object.entries(changed).filter(
      ([name, value]) => !name.startsWith("HERMES_") && prepared.base[name] !== value,
    ),
  );
}
