import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TerminalSize } from "../../src/env/environment.js";
import type {
  Transport,
  TransportEnd,
  TransportProcess,
  TransportStart,
} from "../../src/env/remote/transport.js";
import { ToolError } from "../../src/tool/errors.js";

/** Which shells and tools the other side has. */
export type Flavour = "bash" | "dash" | "busybox";
export const FLAVOURS: readonly Flavour[] = ["bash", "dash", "busybox"];

const GNU_TOOLS =
  "awk cat chmod chown cksum cp dd echo env false find flock grep head id ln ls mkdir mkfifo mv perl printf ps pwd readlink realpath rm rmdir sed seq setsid sh sha256sum sleep sort stat stty sync tail tar tee test timeout touch tr true uname wc yes";

export interface ProcessPlace {
  readonly root: string;
  readonly flavour: Flavour;
  /** Variables of the other side. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts ordinary processes of this machine as if they were elsewhere: own variables, own tools, a session
 * each, and a connection that can be cut.
 */
export class ProcessTransport implements Transport {
  readonly env: Readonly<Record<string, string>>;
  readonly started: (readonly string[])[] = [];
  broken = false;
  /** Whom programs run as; this process's own user when left out. */
  user: number | undefined;
  /** How much later than stderr, which comes at once, stdout arrives: the streams of a service are on ways of their own. */
  stdoutDelayMs = 0;
  /** When set, starting fails with it. */
  refuse: string | undefined;
  readonly #live = new Set<{ cut(why: string): void; child: ChildProcess }>();

  constructor(place: ProcessPlace) {
    const bin = join(place.root, "bin");
    const home = join(place.root, "home");
    mkdirSync(home, { recursive: true });
    installTools(bin, place.flavour);
    this.env = { PATH: bin, HOME: home, LANG: "C.UTF-8", ...place.env };
  }

  /** Everything that runs loses its streams, and nothing tells how it ends. */
  cut(why = "the line was cut"): void {
    this.broken = true;
    for (const each of [...this.#live]) each.cut(why);
  }

  get live(): number {
    return this.#live.size;
  }

  async start(request: TransportStart): Promise<TransportProcess> {
    if (this.refuse !== undefined) {
      throw new ToolError(this.refuse, { code: "unavailable", hint: "Wait for it." });
    }
    this.broken = false;
    this.started.push(request.argv);
    const [program = "", ...args] = request.argv;
    const path = program.includes("/") ? program : join(this.env.PATH ?? "", program);
    if (request.pty !== undefined)
      return startInTerminal({ path, args, env: this.env, request, pty: request.pty });
    const who = this.user === undefined ? {} : { uid: this.user, gid: this.user };
    const child = spawn(path, args, { cwd: "/", env: this.env, detached: true, stdio: "pipe", ...who });
    return this.#follow(child, request);
  }

  #follow(child: ChildProcess, request: TransportStart): TransportProcess {
    let over = false;
    let settle = (_: TransportEnd) => {};
    const ended = new Promise<TransportEnd>((resolve) => {
      settle = resolve;
    });
    const finish = (end: TransportEnd) => {
      if (over) return;
      over = true;
      this.#live.delete(entry);
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
      settle(end);
    };
    const entry = { child, cut: (why: string) => finish({ lost: why }) };
    this.#live.add(entry);
    const delayMs = this.stdoutDelayMs;
    let lastStdout = Promise.resolve();
    child.stdout?.on("data", (bytes: Buffer) => {
      const deliver = () => over || request.onStdout(bytes);
      if (delayMs === 0) deliver();
      else lastStdout = delay(delayMs).then(() => void deliver());
    });
    child.stderr?.on("data", (bytes: Buffer) => over || request.onStderr(bytes));
    child.stdin?.on("error", () => {});
    child.on("error", () => finish({ exitCode: 127 }));
    child.on("close", (code, signal) => {
      const exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
      if (delayMs === 0) finish({ exitCode });
      else void lastStdout.then(() => finish({ exitCode }));
    });
    if (request.stdin !== "open") child.stdin?.end(request.stdin ?? "");
    return {
      ended,
      write: (data) =>
        new Promise((resolve) => {
          if (over || child.stdin?.writable !== true) resolve();
          else child.stdin.write(data, () => resolve());
        }),
      async closeInput() {
        child.stdin?.end();
      },
      resize() {},
      pauseOutput(paused) {
        for (const stream of [child.stdout, child.stderr]) paused ? stream?.pause() : stream?.resume();
      },
      abandon: () => finish({ exitCode: 0 }),
    };
  }
}

async function startInTerminal(options: {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly request: TransportStart;
  readonly pty: TerminalSize;
}): Promise<TransportProcess> {
  const { spawn: spawnTerminal } = await import("@lydell/node-pty");
  const { request } = options;
  const terminal = spawnTerminal(options.path, [...options.args], {
    cwd: "/",
    env: { ...options.env },
    cols: options.pty.columns,
    rows: options.pty.rows,
    encoding: null,
  });
  let over = false;
  terminal.onData((data: unknown) => over || request.onStdout(Buffer.from(data as Uint8Array)));
  let settle = (_: TransportEnd) => {};
  const ended = new Promise<TransportEnd>((resolve) => {
    settle = resolve;
  });
  const finish = (end: TransportEnd) => {
    over = true;
    settle(end);
  };
  terminal.onExit(({ exitCode, signal }) => finish({ exitCode: signal ? 128 + signal : exitCode }));
  return {
    ended,
    async write(data) {
      // Bytes are taken as well; the types do not say so.
      (terminal as { write(data: string | Buffer): void }).write(
        typeof data === "string" ? data : Buffer.from(data),
      );
    },
    async closeInput() {},
    resize: ({ columns, rows }) => terminal.resize(columns, rows),
    pauseOutput: (paused) => (paused ? terminal.pause() : terminal.resume()),
    abandon: () => finish({ exitCode: 0 }),
  };
}

function installTools(bin: string, flavour: Flavour): void {
  if (existsSync(bin)) return;
  mkdirSync(bin);
  const where = (name: string) =>
    execFileSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).trim();
  if (flavour === "busybox") {
    const busybox = where("busybox");
    const applets = execFileSync(busybox, ["--list"], { encoding: "utf8" }).split("\n");
    for (const applet of applets) if (applet !== "") symlinkSync(busybox, join(bin, applet));
    return;
  }
  const names = GNU_TOOLS.split(" ").filter((name) => name !== "sh");
  const found = execFileSync("sh", ["-c", 'for n; do command -v "$n" || echo; done', "sh", ...names], {
    encoding: "utf8",
  }).split("\n");
  names.forEach((name, index) => {
    // What the shell has built in is named without a path.
    const place = found[index]?.startsWith("/") ? found[index] : `/usr/bin/${name}`;
    if (existsSync(place)) symlinkSync(place, join(bin, name));
  });
  symlinkSync(where(flavour === "bash" ? "bash" : "dash"), join(bin, "sh"));
  if (flavour === "bash") symlinkSync(where("bash"), join(bin, "bash"));
}
