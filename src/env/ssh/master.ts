import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { access, chmod, lstat, mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { explainFailure, explainLoss } from "./explain-failure.js";
import { destination, masterArguments, type SshOptions } from "./options.js";
import { GUARD } from "./scripts.gen.js";

/** Longer than ConnectTimeout: a hardware key may wait for somebody's finger. */
const LOGIN_MS = 30_000;
const LOOK_AGAIN_MS = 8;
const END_MS = 2_000;
const KEPT_LINES = 120;

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

/** A socket's path has 104 bytes on some systems, and `ssh` adds 17 for the moment of its making. */
const MAX_PATH_BYTES = 104 - 1 - 17;
/** Anything else could mean something to `ssh`, which expands its paths. */
const SAFE_PATH = /^[A-Za-z0-9/._+ -]+$/;

export interface ControlSocket {
  readonly path: string;
  /** Made for this socket alone; empty when the socket lies in the folder of the settings. */
  readonly ownFolder: string;
}

/** A place for the socket of one connection that nobody else can reach. */
export async function placeControlSocket(options: SshOptions): Promise<ControlSocket> {
  const name = socketName(options);
  const path = join(options.controlDir, name);
  if (fits(path)) {
    await makePrivate(options.controlDir);
    return { path, ownFolder: "" };
  }
  for (const parent of [tmpdir(), "/tmp"]) {
    if (!fits(join(parent, "hermes-ssh-XXXXXX", name))) continue;
    const ownFolder = await mkdtemp(join(parent, "hermes-ssh-"));
    return { path: join(ownFolder, name), ownFolder };
  }
  throw new ToolError(
    `No place for the socket of an ssh connection: ${options.controlDir} is too long a path.`,
    {
      code: "unavailable",
      hint: "Set TMPDIR to a folder with a short path of plain characters.",
    },
  );
}

/** Tells connections of different hosts, runtimes and moments apart. */
function socketName(options: SshOptions): string {
  const place = sha256(destination(options)).slice(0, 16);
  return `${place}-${process.pid.toString(36)}${randomBytes(3).toString("hex")}`;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES && SAFE_PATH.test(path);
}

/** Whoever can open the socket can act as this account on the host. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const facts = await lstat(folder);
  if (!facts.isDirectory() || facts.uid !== process.getuid?.()) {
    throw new ToolError(`The folder for ssh sockets ${folder} is not a folder of this account.`, {
      code: "unavailable",
      hint: "Remove it, or choose another one.",
    });
  }
  if ((facts.mode & 0o077) !== 0) await chmod(folder, 0o700);
}
