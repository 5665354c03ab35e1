import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { within } from "../../base/deadline.js";
import type { ChildExit, StartFailure } from "../../env/local/child.js";
import type { Launcher } from "../../env/local/launcher/launcher.js";
import { EXEC_MARK } from "../../env/local/marks.js";
import { endTree, sendSignal } from "../../env/local/process-tree.js";
import { Starter } from "../../env/local/starter.js";

/** Most programs end when they are told to. */
const OBEYS_MS = 300;

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A server program that runs, in a session of its own. */
export interface RunningProgram {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Ends it and everything it has started. Resolves when nothing of it is left. */
  end(): Promise<void>;
}

interface ProgramEnd {
  /** For a sentence about the server: "it ended with exit code 3". */
  readonly how: string;
  /** Why it never ran. */
  readonly failure?: Error;
}

/**
 * Starts server programs: from the launcher where there is one. A server that goes wrong is started again while others
 * are being called, and to start a program, Node copies its page tables and does nothing else meanwhile.
 */
export class ServerPrograms {
  readonly #starter = new Starter({ mark: randomUUID(), launcher: true });

  /** Rejects when it cannot be started; where a launcher starts it, `ended` may be the one to say so. */
  async start(program: ServerProgram): Promise<RunningProgram> {
    const mark = randomUUID();
    const marked = { ...program, env: { ...program.env, [EXEC_MARK]: mark } };
    const launcher = await this.#starter.launcher();
    return launcher === undefined
      ? startFromHere(marked, mark)
      : startFromLauncher(marked, { launcher, mark });
  }

  /** When all servers have been closed. */
  close(): Promise<void> {
    return this.#starter.close();
  }
}

async function startFromLauncher(
  { command, args, cwd, env }: ServerProgram,
  { launcher, mark }: { readonly launcher: Launcher; readonly mark: string },
): Promise<RunningProgram> {
  const launched = await launcher.launch({
    argv: [command, ...args],
    cwd,
    env,
    descriptors: ["input", "output", "output"],
  });
  if ("stage" in launched) throw failed(command, launched);
  const { pid } = launched;
  const [input, output, complaints] = launched.ends;
  const ended = launched.exited.then((exit) => endOf(command, exit));
  let over = false;
  void ended.then(() => {
    over = true;
  });
  return {
    pid,
    stdin: new Socket({ fd: input, readable: false, writable: true }),
    stdout: new Socket({ fd: output, readable: true, writable: false }),
    stderr: new Socket({ fd: complaints, readable: true, writable: false }),
    ended,
    async end() {
      if (!over) {
        // A stopped process takes TERM only once it runs again.
        for (const signal of ["SIGTERM", "SIGCONT"] as const) sendSignal(-pid, signal);
        await within(ended, OBEYS_MS);
      }
      // What it has left behind is the launcher's child now, so all processes need not be searched for it.
      if (!over || launcher.hasOrphans()) await endTree({ pid: over ? undefined : pid, mark });
    },
  };
}

function endOf(command: string, exit: ChildExit): ProgramEnd {
  switch (exit.kind) {
    case "lost":
      return { how: "the helper process that starts programs ended, and nobody can tell how it fares" };
    case "failed":
      return { how: "it could not be started", failure: failed(command, exit) };
    case "exited":
      return { how: ending(exit.code, exit.signal === undefined ? null : nameOf(exit.signal)) };
  }
}

function failed(command: string, { code }: StartFailure): Error {
  return Object.assign(new Error(`${command} could not be started (${code})`), { code });
}

function nameOf(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

function ending(code: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

/**
 * Other systems, no Perl, no /proc. The number of a leader that has ended may be somebody else's by now; its mark is
 * not.
 */
function startFromHere({ command, args, cwd, env }: ServerProgram, mark: string): Promise<RunningProgram> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      // A group of its own, so that it can be ended together with all it has started.
      detached: true,
      windowsHide: true,
    });
    let over = false;
    const ended = new Promise<ProgramEnd>((tell) => {
      child.once("exit", (code, signal) => {
        over = true;
        tell({ how: ending(code, signal) });
      });
    });
    child.once("error", reject);
    child.once("spawn", () => {
      const { pid, stdin, stdout, stderr } = child;
      if (pid === undefined) return;
      const end = async () => void (await endTree({ pid: over ? undefined : pid, mark }));
      resolve({ pid, stdin, stdout, stderr, ended, end });
    });
  });
}
