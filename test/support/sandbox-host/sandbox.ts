import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { sharedFolders } from "./image.js";

const AGENT = fileURLToPath(new URL("./agent.mjs", import.meta.url));

export interface HostedStart {
  readonly argv: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly pty?: { readonly columns: number; readonly rows: number };
}

/** A program that really runs in a sandbox. With a terminal, `stdin` and `stdout` are the same connection. */
export interface HostedProcess {
  readonly pid: number | undefined;
  readonly stdin: Socket;
  readonly stdout: Socket;
  /** Absent with a terminal. */
  readonly stderr: Socket | undefined;
  readonly exited: Promise<{ readonly code?: number; readonly signal?: number }>;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  kill(signal: NodeJS.Signals): void;
}

/**
 * What a service calls a sandbox: a file system of its own (a folder), its own process numbers and network, and
 * one agent inside that starts programs. Ending it ends everything inside.
 */
export class HostedSandbox {
  readonly folder: string;
  readonly #runFolder: string;
  readonly #bwrap: ChildProcess;
  readonly ended: Promise<void>;
  #nextId = 1;

  private constructor(options: { folder: string; runFolder: string; bwrap: ChildProcess }) {
    this.folder = options.folder;
    this.#runFolder = options.runFolder;
    this.#bwrap = options.bwrap;
    this.ended = once(options.bwrap, "exit").then(() =>
      rm(options.runFolder, { recursive: true, force: true }),
    );
  }

  static async start(folder: string): Promise<HostedSandbox> {
    const runFolder = await mkdtemp(join(tmpdir(), "sbx-"));
    const terminals = dirname(
      dirname(createRequire(import.meta.url).resolve("@lydell/node-pty/package.json")),
    );
    const bwrap = spawn(
      "bwrap",
      [
        ...namespaces(),
        "--bind",
        folder,
        "/",
        ...sharedFolders(),
        ...["--proc", "/proc", "--dev", "/dev"],
        ...["--ro-bind", process.execPath, "/.host/node"],
        ...["--ro-bind", AGENT, "/.host/agent.mjs"],
        ...["--ro-bind", terminals, "/.host/node_modules/@lydell"],
        ...["--bind", runFolder, "/.host/run"],
        "--clearenv",
        ...Object.entries(baseVariables()).flatMap(([name, value]) => ["--setenv", name, value]),
        ...["/.host/node", "/.host/agent.mjs", "/.host/run/agent"],
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const sandbox = new HostedSandbox({ folder, runFolder, bwrap });
    let complaint = "";
    bwrap.stderr?.on("data", (chunk) => {
      complaint += chunk;
    });
    const ready = await Promise.race([
      bwrap.stdout ? once(bwrap.stdout, "data").then(() => true) : false,
      sandbox.ended.then(() => false),
    ]);
    if (!ready) throw new Error(`the sandbox did not start: ${complaint}`);
    return sandbox;
  }

  async start(request: HostedStart): Promise<HostedProcess> {
    const id = this.#nextId++;
    const open = async (header: object): Promise<Socket> => {
      const socket = connect(join(this.#runFolder, "agent"));
      socket.on("error", () => {});
      await Promise.race([
        once(socket, "connect"),
        once(socket, "close").then(() => Promise.reject(new Error("the sandbox has ended"))),
      ]);
      socket.write(`${JSON.stringify(header)}\n`);
      return socket;
    };
    const roles = request.pty === undefined ? ["stdin", "stdout", "stderr"] : ["pty"];
    const [first, second, third] = await Promise.all(roles.map((role) => open({ id, role })));
    const control = await open({
      id,
      role: "control",
      ...request,
      cwd: request.cwd ?? "/root",
      env: { ...baseVariables(), ...request.env },
    });
    if (first === undefined) throw new Error("no connection");
    return await HostedSandbox.#follow({ control, stdin: first, stdout: second ?? first, stderr: third });
  }

  static async #follow(sockets: {
    control: Socket;
    stdin: Socket;
    stdout: Socket;
    stderr: Socket | undefined;
  }): Promise<HostedProcess> {
    const { control, stdin, stdout, stderr } = sockets;
    let started: (pid: number | undefined) => void = () => {};
    const pid = new Promise<number | undefined>((resolve) => {
      started = resolve;
    });
    const exited = new Promise<{ code?: number; signal?: number }>((resolve) => {
      createInterface(control).on("line", (line) => {
        const message = JSON.parse(line);
        if (message.pid !== undefined) started(message.pid);
        if (message.failed !== undefined) resolve({ code: message.failed });
        if (message.exit !== undefined)
          resolve(message.exit === null ? { signal: signalNumber(message.signal) } : { code: message.exit });
      });
      control.on("close", () => resolve({ signal: 9 }));
    });
    void exited.then(() => {
      started(undefined);
      control.destroy();
    });
    return {
      pid: await pid,
      stdin,
      stdout,
      stderr,
      exited,
      resize: (size) => control.write(`${JSON.stringify({ resize: size })}\n`),
      kill: (signal) => control.write(`${JSON.stringify({ kill: signal })}\n`),
    };
  }

  async stop(): Promise<void> {
    this.#bwrap.kill("SIGKILL");
    await this.ended;
  }
}

function signalNumber(signal: unknown): number {
  if (typeof signal === "number") return signal;
  const numbers: Record<string, number> = {
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGABRT: 6,
    SIGKILL: 9,
    SIGSEGV: 11,
    SIGPIPE: 13,
    SIGTERM: 15,
  };
  return numbers[String(signal)] ?? 9;
}

function namespaces(): string[] {
  const own = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent"];
  return process.getuid?.() === 0 ? own : ["--unshare-user", "--uid", "0", "--gid", "0", ...own];
}

function baseVariables(): Record<string, string> {
  return { HOME: "/root", PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LANG: "C.UTF-8" };
}
