import { closeSync, fstatSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, SpawnRequest, TerminalSize } from "../environment.js";
import type { InTerminal, StartedInTerminal } from "../pty/local-pty.js";
import { FILTER_DESCRIPTOR } from "../sandbox/types.js";
import type { Child, ChildExit, StartFailure } from "./child.js";
import { withGroupsJoined } from "./child.js";
import { backgroundVector, confinedBackgroundVector, confinedVector, readReport } from "./command-line.js";
import { type Prepared, type ProcessHost, prepareProgram, shutInBy } from "./prepare.js";
import { endTree, groupGone, livingTree } from "./process-tree.js";
import { cannotStart, outputArrived } from "./run-process.js";
import { watchUsage } from "./usage-watch.js";

const VECTORS = { plain: backgroundVector, confined: confinedVector };

/** Starts a program with pipes and lets it go on. The cwd must exist. */
export async function spawnProcess(request: SpawnRequest, host: ProcessHost): Promise<RunningProcess> {
  const prepared = await prepareProgram(request, host, VECTORS);
  const { confinement } = prepared;
  const take = (bytes: Uint8Array) => {
    try {
      request.onOutput(bytes);
    } catch {
      // The program must not suffer from its listener.
    }
  };
  try {
    const child = await host.start({
      argv: prepared.argv,
      cwd: prepared.cwd,
      env: prepared.env,
      mark: prepared.mark,
      input: "open",
      report: confinement !== undefined,
      filter: confinement?.filter,
      boundary: prepared.within,
      joinFiles: prepared.joinFiles,
      // A listener may keep what it gets.
      onOutput: (bytes) => take(new Uint8Array(bytes)),
    });
    const confinedBy = shutInBy(prepared, request.confine);
    if (!("stage" in child)) return running({ child, prepared, confinedBy, take });
    if (child.stage !== "program") throw cannotStart(prepared.argv, child.code);
    return running({ child: neverRan(child, prepared.mark), prepared, confinedBy, take });
  } catch (error) {
    await confinement?.release();
    throw error;
  }
}

interface Parts {
  readonly child: Omit<Child, "pid"> & { readonly pid: number | undefined };
  readonly prepared: Prepared;
  readonly confinedBy: string | undefined;
  readonly take: (bytes: Uint8Array) => void;
}

/** A program that is not there looks like one that ended at once, as it does in a shell. */
function neverRan(failure: StartFailure, mark: string): Parts["child"] {
  return {
    pid: undefined,
    mark,
    exited: Promise.resolve({ kind: "failed", ...failure }),
    outputEnded: Promise.resolve(),
    input: undefined,
    pauseOutput() {},
    letGo() {},
  };
}

function running({ child, prepared, confinedBy, take }: Parts): RunningProcess {
  const { confinement } = prepared;
  const { input, pid, mark } = child;
  const pipe = input === undefined ? undefined : pipeIdentity(input);
  const watched = confinement?.watched;
  const watch = watched === undefined || pid === undefined ? undefined : watchUsage(pid, watched);
  const leave = prepared.boundary?.enter();
  let over = false;
  const ended = child.exited.then(async (exit): Promise<ProcessEnd> => {
    over = true;
    leave?.();
    const excess = watch?.stop();
    if (exit.kind === "failed") take(startProblem(prepared.argv, exit.code));
    await outputArrived(child);
    child.letGo();
    input?.destroy();
    if (exit.kind === "lost") await endTree({ pid: undefined, mark });
    // What a sandbox still holds may go on for a moment; only then can names be put back.
    else if (confinement !== undefined && pid !== undefined) await groupGone(pid);
    const released = await confinement?.release();
    const reached = [excess, ...(released?.reached ?? [])].filter((limit) => limit !== undefined);
    return { ...endOf(exit, confinement !== undefined), reached: reached.length > 0 ? reached : undefined };
  });
  return {
    pid,
    mark,
    pty: false,
    confinedBy,
    ended,
    write: (data) => write(input, data),
    closeInput: () => new Promise((resolve) => (input?.writable ? input.end(resolve) : resolve())),
    resize() {
      throw new ToolError("Only a program in a terminal has a size.", {
        code: "invalid_arguments",
        hint: "Start it with a terminal (pty) to set its size.",
      });
    },
    pauseOutput: (paused) => child.pauseOutput(paused),
    async waitsForInput() {
      if (over || pid === undefined) return false;
      if (pipe === undefined) return undefined;
      return readsFrom({ leader: pid, pipe });
    },
    async end() {
      const survivors = await endTree({
        pid: over ? undefined : pid,
        mark,
        held: confinement !== undefined && !over,
      });
      if (survivors.length === 0) await ended;
      return survivors;
    },
  };
}

function write(input: Writable | undefined, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!input?.writable) {
      reject(inputClosed());
      return;
    }
    input.write(data, (error) => (error ? reject(inputClosed()) : resolve()));
  });
}

function inputClosed(): ToolError {
  return new ToolError("The program does not take input any more: it has ended or its input was closed.", {
    hint: "Look at its output and state; start it again if it should go on.",
  });
}

function endOf(exit: ChildExit, confined: boolean): ProcessEnd {
  switch (exit.kind) {
    case "lost":
      return { exitCode: 137, lost: "the helper process that starts programs ended in the middle" };
    case "failed":
      return { exitCode: exit.code === "EACCES" ? 126 : 127 };
    case "exited":
      return readReport(exit.report, confined).begun
        ? { exitCode: exit.code }
        : { exitCode: exit.code, lost: "the sandbox could not be started; `hermes doctor` says why" };
  }
}

function startProblem(argv: readonly string[], code: string): Uint8Array {
  const why = code === "ENOENT" ? "command not found" : code === "EACCES" ? "permission denied" : code;
  return Buffer.from(`${argv[0]}: ${why}\n`);
}

/** Undefined where the input is something else than a pipe of ours. */
function pipeIdentity(input: Writable): PipeIdentity | undefined {
  const { fd } = (input as Writable & { _handle?: { fd?: number } })._handle ?? {};
  return fd === undefined || fd < 0 ? undefined : fstatSync(fd);
}

/** Starts a program in a terminal and lets it go on. The cwd must exist. */
export async function spawnInTerminal(
  request: SpawnRequest & { readonly pty: TerminalSize },
  host: ProcessHost,
): Promise<RunningProcess> {
  const { spawnInPty } = await import("../pty/local-pty.js");
  const vectors = { plain: backgroundVector, confined: confinedBackgroundVector };
  const prepared = await prepareProgram(request, host, vectors);
  const { argv, cwd, env, mark, confinement, joinFiles, boundary, within } = prepared;
  const leave = boundary?.enter();
  const filter = confinement?.filter;
  const release = async () => {
    leave?.();
    if (filter !== undefined) closeSync(filter);
    await confinement?.release();
  };
  try {
    const child = await spawnInPty({
      argv: withGroupsJoined(argv, joinFiles),
      cwd,
      env,
      mark,
      size: request.pty,
      held: confinement !== undefined,
      confinedBy: shutInBy(prepared, request.confine),
      startIn:
        within === undefined || host.startInTerminal === undefined
          ? undefined
          : (terminal) => startInside(prepared, { terminal, host, take: (bytes) => request.onOutput(bytes) }),
      ...(filter !== undefined && {
        files: [{ descriptor: FILTER_DESCRIPTOR, path: `/proc/${process.pid}/fd/${filter}` }],
      }),
      onOutput: (bytes) => request.onOutput(bytes),
    });
    void child.ended.then(release);
    return child;
  } catch (error) {
    await release();
    throw error;
  }
}

async function startInside(
  { argv, cwd, within, confinement }: Prepared,
  run: {
    readonly terminal: InTerminal;
    readonly host: ProcessHost;
    readonly take: (bytes: Uint8Array) => void;
  },
): Promise<StartedInTerminal> {
  const { terminal, host, take } = run;
  const started = await host.startInTerminal?.({
    argv,
    cwd,
    boundary: within,
    filter: confinement?.filter,
    ...terminal,
  });
  if (started === undefined || "stage" in started) throw cannotStart(argv, started?.code ?? "EIO");
  const exited = started.exited.then((exit) => {
    if (exit.kind === "failed") take(startProblem(argv, exit.code));
    return endOf(exit, false);
  });
  return { pid: started.pid, exited };
}

/** Numbers of the calls that wait for bytes: read and readv. */
const READ_CALLS: Readonly<Record<string, ReadonlySet<string>>> = {
  x64: new Set(["0", "19"]),
  arm64: new Set(["63", "65"]),
};

/** The same for both ends. */
export interface PipeIdentity {
  readonly dev: number;
  readonly ino: number;
}

/**
 * Whether somebody of the tree waits in a read from this pipe. A program that waits for many things at once
 * (poll, select) does not show. Undefined where the kernel does not tell.
 */
export async function readsFrom(place: {
  readonly leader: number;
  readonly pipe: PipeIdentity;
}): Promise<boolean | undefined> {
  const calls = READ_CALLS[process.arch];
  if (process.platform !== "linux" || calls === undefined) return undefined;
  const answers = await Promise.all(
    (await livingTree(place.leader)).map((pid) => waitsIn(pid, { calls, pipe: place.pipe })),
  );
  if (answers.includes(true)) return true;
  return answers.length > 0 && answers.every((answer) => answer === undefined) ? undefined : false;
}

async function waitsIn(
  pid: number,
  what: { readonly calls: ReadonlySet<string>; readonly pipe: PipeIdentity },
): Promise<boolean | undefined> {
  let line: string;
  try {
    line = await readFile(`/proc/${pid}/syscall`, "latin1");
  } catch {
    return undefined;
  }
  const [call = "", descriptor = ""] = line.split(" ");
  if (!what.calls.has(call)) return false;
  try {
    const { dev, ino } = await stat(`/proc/${pid}/fd/${Number(descriptor)}`);
    return dev === what.pipe.dev && ino === what.pipe.ino;
  } catch {
    return false;
  }
}
