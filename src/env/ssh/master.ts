import { type ChildProcess, spawn } from "node:child_process";
import { access, rm, rmdir } from "node:fs/promises";
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../tool/errors.js";
import { type ControlSocket, placeControlSocket } from "./control-socket.js";
import { explainFailure, explainLoss } from "./explain-failure.js";
import { destination, masterArguments, type SshOptions } from "./options.js";

/** Longer than ConnectTimeout: a hardware key may wait for somebody's finger. */
const LOGIN_MS = 30_000;
const LOOK_AGAIN_MS = 8;
const END_MS = 2_000;
const KEPT_LINES = 120;

/**
 * Ends `ssh` when its input ends, which is what the system makes of it when this process dies, however it dies.
 * The watcher's streams are not the caller's: nobody may wait for it.
 */
const GUARD = `socket=$1 folder=$2; shift 2
exec 3<&0 </dev/null
"$@" 3<&- & master=$!
{ while read -r _; do :; done <&3; kill "$master"; } >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait "$master"; code=$?
kill "$watcher" 2>/dev/null
rm -f -- "$socket"
[ -z "$folder" ] || rmdir -- "$folder" 2>/dev/null
exit "$code"`;

/** An `ssh` that is logged in and lets others use its connection through a socket. */
export interface Master {
  readonly socket: string;
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** Connects and logs in. Rejects with a ToolError (`unavailable`). */
export async function startMaster(options: SshOptions): Promise<Master> {
  const socket = await placeControlSocket(options);
  const argv = masterArguments(options, socket.path);
  const child = startGuarded(argv, { socket, env: options.env ?? process.env });
  const lines: string[] = [];
  keepLines(child, lines);
  const exited = new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    // "close" and not "exit": the last lines say why.
    child.once("close", (code) => resolve(code ?? 255));
  });

  const close = async () => {
    child.stdin?.destroy();
    await Promise.race([exited, delay(END_MS, undefined, { ref: false })]);
    killGroup(child);
    await exited;
    await rm(socket.path, { force: true });
    if (socket.ownFolder !== "") await rmdir(socket.ownFolder).catch(() => {});
  };

  const outcome = await Promise.race([exited, appears(socket.path, exited), loginLimit()]);
  if (outcome === "ready") {
    // An unused connection must not keep this process from ending.
    child.unref();
    for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref();
    return { socket: socket.path, ended: exited.then(() => explainLoss(lines)), close };
  }
  await close();
  const to = destination(options);
  if (outcome === "late") {
    throw new ToolError(
      `Cannot connect to ${to} over ssh: the login took longer than ${LOGIN_MS / 1000} s.`,
      {
        code: "unavailable",
        hint: "If the key is on a hardware token, touch it when it blinks; else check the host.",
      },
    );
  }
  throw explainFailure({ to, program: options.program ?? "ssh", lines, exitCode: outcome });
}

function startGuarded(
  argv: readonly string[],
  options: { readonly socket: ControlSocket; readonly env: NodeJS.ProcessEnv },
): ChildProcess {
  const { path, ownFolder } = options.socket;
  return spawn("/bin/sh", ["-c", GUARD, "hermes-ssh", path, ownFolder, ...argv], {
    // The reasons are looked for in its messages. It prompts for nothing: there is no terminal to ask on.
    env: { ...options.env, LC_ALL: "C" },
    stdio: ["pipe", "ignore", "pipe"],
    // Ctrl-C in this process's terminal is not meant for the connection.
    detached: true,
  });
}

function keepLines(child: ChildProcess, lines: string[]): void {
  let partial = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    const parts = `${partial}${chunk.toString("utf8")}`.split(/\r?\n/);
    partial = (parts.pop() ?? "").slice(-4_096);
    lines.push(...parts);
    if (lines.length > KEPT_LINES) lines.splice(0, lines.length - KEPT_LINES);
  });
  for (const stream of [child.stdin, child.stderr]) stream?.on("error", () => {});
}

/** `ssh` makes its socket only after the login, and under its name only when it answers. */
async function appears(path: string, exited: Promise<number>): Promise<"ready"> {
  let over = false;
  void exited.then(() => {
    over = true;
  });
  while (!over) {
    try {
      await access(path);
      return "ready";
    } catch {
      await delay(LOOK_AGAIN_MS);
    }
  }
  return new Promise(() => {});
}

async function loginLimit(): Promise<"late"> {
  return delay(LOGIN_MS, "late" as const, { ref: false });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
