import { randomUUID } from "node:crypto";
import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, SpawnRequest } from "../environment.js";
import type { Connection } from "./connection.js";
import { lostWhileWorking } from "./remote-error.js";
import { type RemoteProgram, startProgram } from "./remote-program.js";
import { waitsThere } from "./waits-there.js";

const END_OF_FILE = "\x04";
const UNKNOWN_END = 137;

/** Starts a program there and lets it go on. Answers when it has begun. */
export async function spawnThere(request: SpawnRequest, connection: Connection): Promise<RunningProcess> {
  const probe = await connection.ready();
  const mark = randomUUID();
  const program = await startProgram({
    ...request,
    connection,
    probe,
    mark,
    streams: request.pty === undefined ? "merged" : "terminal",
    stdin: "open",
    onStdout: (bytes) => {
      try {
        request.onOutput(bytes);
      } catch {
        // The program must not suffer from its listener.
      }
    },
  });
  await Promise.race([program.inbox.begun.promise, program.over]);
  return running({ program, connection, mark, pty: request.pty !== undefined });
}

interface Parts {
  readonly program: RemoteProgram;
  readonly connection: Connection;
  readonly mark: string;
  readonly pty: boolean;
}

function running({ program, connection, mark, pty }: Parts): RunningProcess {
  const { process, inbox } = program;
  let over = false;
  const ended = program.over.then(
    (end): ProcessEnd => {
      over = true;
      return "lost" in end ? { exitCode: UNKNOWN_END, lost: end.lost } : end;
    },
    // Told by the start already.
    (): ProcessEnd => ({ exitCode: UNKNOWN_END }),
  );
  const requireOpen = () => {
    if (over) throw inputClosed();
  };
  return {
    get pid() {
      return inbox.pid;
    },
    mark,
    pty,
    ended,
    async write(data) {
      requireOpen();
      await process.write(data);
    },
    async closeInput() {
      if (over) return;
      await (pty ? process.write(END_OF_FILE) : process.closeInput());
    },
    resize(size) {
      if (pty) return process.resize(size);
      throw new ToolError("Only a program in a terminal has a size.", {
        code: "invalid_arguments",
        hint: "Start it with a terminal (pty) to set its size.",
      });
    },
    pauseOutput: (paused) => program.pauseOutput(paused),
    async waitsForInput() {
      if (over) return false;
      return waitsThere({ transport: connection.transport, mark, pid: inbox.pid, pty });
    },
    async end() {
      // Also after its own end: what it left in the background belongs to it.
      const end = await program.end();
      if ("lost" in end) throw lostWhileWorking(connection.name, end.lost);
      if (end.survivors.length === 0) await ended;
      return end.survivors;
    },
  };
}

function inputClosed(): ToolError {
  return new ToolError("The program does not take input any more: it has ended or its input was closed.", {
    hint: "Look at its output and state; start it again if it should go on.",
  });
}
