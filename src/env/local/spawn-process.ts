import { fstatSync } from "node:fs";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, SpawnRequest } from "../environment.js";
import type { Child, ChildExit, StartFailure } from "./child.js";
import { backgroundVector, confinedVector, readReport } from "./command-line.js";
import { type Prepared, type ProcessHost, prepareProgram } from "./prepare.js";
import { endTree, groupGone } from "./process-tree.js";
import { cannotStart, DRAIN_MS } from "./run-process.js";
import { watchUsage } from "./usage-watch.js";
import { type PipeIdentity, readsFrom } from "./waits-for-input.js";

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
      joinFiles: prepared.joinFiles,
      // A listener may keep what it gets.
      onOutput: (bytes) => take(new Uint8Array(bytes)),
    });
    if (!("stage" in child)) return running({ child, prepared, take });
    if (child.stage !== "program") throw cannotStart(prepared.argv, child.code);
    return running({ child: neverRan(child, prepared.mark), prepared, take });
  } catch (error) {
    await confinement?.release();
    throw error;
  }
}

interface Parts {
  readonly child: Omit<Child, "pid"> & { readonly pid: number | undefined };
  readonly prepared: Prepared;
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

function running({ child, prepared, take }: Parts): RunningProcess {
  const { confinement } = prepared;
  const { input, pid, mark } = child;
  const pipe = input === undefined ? undefined : pipeIdentity(input);
  const watched = confinement?.watched;
  const watch = watched === undefined || pid === undefined ? undefined : watchUsage(pid, watched);
  let over = false;
  const ended = child.exited.then(async (exit): Promise<ProcessEnd> => {
    over = true;
    const excess = watch?.stop();
    if (exit.kind === "failed") take(startProblem(prepared.argv, exit.code));
    await Promise.race([child.outputEnded, delay(DRAIN_MS)]);
    child.letGo();
    input?.destroy();
    if (exit.kind === "lost") await endTree({ pid: undefined, mark });
    // What a sandbox still holds may go on for a moment; only then can names be put back.
    else if (confinement !== undefined && pid !== undefined) await groupGone(pid);
    const released = await confinement?.release();
    const reached = [excess, ...(released?.reached ?? [])].filter((limit) => limit !== undefined);
    return { ...endOf(exit, confinement !== undefined), ...(reached.length > 0 && { reached }) };
  });
  return {
    pid,
    mark,
    pty: false,
    ...(confinement?.confinedBy !== undefined && { confinedBy: confinement.confinedBy }),
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
