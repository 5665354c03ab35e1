import { randomUUID } from "node:crypto";
import { ToolError } from "../../tool/errors.js";
import type { ProcessEnd, RunningProcess, SpawnRequest } from "../environment.js";
import { EXEC_MARK } from "../local/marks.js";
import type { Connection } from "./connection.js";
import { lostWhileWorking } from "./remote-error.js";
import { type RemoteProgram, startProgram } from "./remote-program.js";
import { collect } from "./run-script.js";
import { WAITS_FOR_INPUT } from "./scripts.gen.js";
import type { Transport } from "./transport.js";

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

const LIMIT_MS = 10_000;

const READS_TERMINAL = /^(?:n_tty_read|wait_woken)$/;
const MAY_READ =
  /^(?:pipe_read|anon_pipe_read|pipe_wait|do_poll|do_sys_poll|poll_schedule_timeout|do_select|ep_poll)/;

/** Whether a program of this tree waits for input; undefined where the other side does not let it be seen. */
export async function waitsThere(place: {
  readonly transport: Transport;
  readonly mark: string;
  readonly pid: number | undefined;
  readonly pty: boolean;
}): Promise<boolean | undefined> {
  const end = await collect({
    transport: place.transport,
    argv: ["sh", "-c", WAITS_FOR_INPUT, "sh", `${EXEC_MARK}=${place.mark}`, String(place.pid ?? "")],
    limitMs: LIMIT_MS,
  }).catch(() => ({ lost: "" }));
  if ("lost" in end) return undefined;
  const lines = end.stdout.toString("latin1").split("\n");
  const rows = lines.filter((line) => line.startsWith("process|")).map((line) => line.split("|"));
  const own = /^input\|(.+)$/.exec(lines[0] ?? "")?.[1];
  if (rows.length === 0 || own === undefined) return undefined;
  const input = place.pty ? isTerminal : (target: string) => target === own;
  const answers = rows.map((row) => rowWaits(row, { pty: place.pty, input }));
  if (answers.includes(true)) return true;
  return answers.includes(undefined) ? undefined : false;
}

function rowWaits(
  row: readonly string[],
  place: { readonly pty: boolean; input(target: string): boolean },
): boolean | undefined {
  const [, state, group, foreground, how, where = ""] = row;
  if (state !== "S" || (place.pty && group !== foreground)) return false;
  const places = where.trim().split(" ");
  if (how === "call") return places.some(place.input);
  const [sleepsIn = "0", input = ""] = places;
  if (sleepsIn === "0") return undefined;
  if (place.pty && READS_TERMINAL.test(sleepsIn)) return place.input(input);
  return MAY_READ.test(sleepsIn) && place.input(input) ? undefined : false;
}

function isTerminal(target: string): boolean {
  return target.startsWith("/dev/pts/") || target === "/dev/tty" || target === "/dev/console";
}
