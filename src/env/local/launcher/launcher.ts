import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { getSystemErrorName } from "node:util";
import { errnoOf } from "../../../base/errno.js";
import type { ToolError } from "../../../tool/errors.js";
import type { ChildExit, StartFailure } from "../child.js";
import { launcherLost } from "../child.js";
import { LAUNCHER_PROGRAM } from "./launcher-program.gen.js";
import { EventReader, encodeRequest, type LauncherEvent } from "./protocol.js";

/** Fixed places: a search along PATH could find a program that a project brought with it. */
const PERL_PLACES = ["/usr/bin/perl", "/bin/perl", "/usr/local/bin/perl", "/run/current-system/sw/bin/perl"];
/** Those whose system calls the launcher knows by number. */
const MACHINES: readonly string[] = ["x64", "arm64"];
/** Reads the program from its input: as an argument it would fill the screen of everybody who lists processes. */
const READ_PROGRAM = [
  'my $program = "";',
  "while (length $program < $ARGV[2]) {",
  "sysread STDIN, $program, $ARGV[2] - length $program, length $program or exit 1",
  "} eval $program; exit 1",
].join(" ");
const READY_MS = 10_000;
/** A command may stop it (`kill -STOP $PPID`), and nobody would hear of the end of any other. */
const GO_ON_MS = 1_000;
/** Longer than the launcher takes to end what will not end. */
const CLOSE_MS = 8_000;

/**
 * What a program gets as descriptor 0, 1, 2 and so on: an end of a pipe whose other end is ours, the report,
 * what the number before it has, nothing, or a file that is open here. A "flood" is an output with room for
 * more; the system grants a person only so much of it, so nothing that lasts may have one.
 */
export type GivenDescriptor =
  | PipeEnd
  | "report"
  | "same"
  | "nothing"
  | { readonly ours: number }
  | { readonly terminal: string };
type PipeEnd = "input" | "output" | "flood";

export interface LaunchRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: readonly GivenDescriptor[];
  /** See `ChildStart.boundary`. */
  readonly boundary?: number | undefined;
  /** See `ChildStart.joinFiles`. */
  readonly joinFiles?: readonly string[];
}

export interface Launched {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Our ends of its pipes in their order, to be closed by whoever asked. They never block. */
  readonly ends: readonly number[];
}

/** What makes the namespaces of a boundary, and what programs in them may do. */
export interface Enclosure {
  /** Makes them, says `"child-pid": N` and `inside`, and waits for the end of its input. */
  readonly argv: readonly string[];
  readonly namespaces: readonly ("mnt" | "net" | "ipc" | "uts" | "pid")[];
  /** First make a user namespace with all ids of this one; only root can. */
  readonly allIds: boolean;
  /** The set of capabilities that programs keep, as in /proc/PID/status. */
  readonly capabilities: bigint;
  /** As `seccompFilter` gives it. */
  readonly filter?: Uint8Array | undefined;
}

interface Running {
  pid?: number;
  readonly ends: readonly PipeEnd[];
  readonly secret: string;
  readonly started: (child: Launched | StartFailure) => void;
  readonly lost: (error: ToolError) => void;
  readonly exited: (exit: ChildExit) => void;
  readonly exit: Promise<ChildExit>;
}

/** A small process that starts programs for this one. Undefined where it does not work. */
export async function openLauncher(mark: string): Promise<Launcher | undefined> {
  const perl = process.platform === "linux" && MACHINES.includes(process.arch) ? findPerl() : undefined;
  if (perl === undefined) return undefined;
  // Without variables: some would make Perl load other code.
  const program = Buffer.from(LAUNCHER_PROGRAM);
  const child = spawn(perl, ["-e", READ_PROGRAM, "--", process.arch, mark, String(program.length)], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const launcher = new Launcher(child);
  child.stdin?.write(program);
  if (await launcher.ready()) return launcher;
  void launcher.close();
  return undefined;
}

function findPerl(): string | undefined {
  return PERL_PLACES.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export class Launcher {
  readonly #process: ChildProcess;
  readonly #requests: Socket | null;
  readonly #events: Socket | null;
  readonly #running = new Map<number, Running>();
  readonly #enclosing = new Map<number, (problem: string) => void>();
  readonly #over: Promise<void>;
  readonly #answered: Promise<number | undefined>;
  #answer: (descriptor: number | undefined) => void = () => {};
  #nextId = 1;
  #alive = true;
  #closing = false;
  #goingOn: NodeJS.Timeout | undefined;
  /** Started, but nobody waits for them; they do not keep this process alive. */
  #idle = 0;

  constructor(child: ChildProcess) {
    this.#process = child;
    this.#requests = child.stdin as Socket | null;
    this.#events = child.stdout as Socket | null;
    this.#answered = new Promise((resolve) => {
      this.#answer = resolve;
    });
    this.#over = new Promise((resolve) => {
      const end = () => {
        this.#end();
        resolve();
      };
      child.once("error", end);
      // After its last words have been read.
      child.once("close", end);
    });
    const reader = new EventReader();
    this.#events?.on("data", (bytes: Buffer) => {
      for (const event of reader.read(bytes)) this.#on(event);
    });
    this.#events?.on("error", () => {});
    this.#requests?.on("error", () => {});
    this.#requests?.unref();
    child.unref();
  }

  /** False once it has ended: what it had started is lost, and a new one is needed. */
  get alive(): boolean {
    return this.#alive;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** False when it cannot be used here. */
  async ready(): Promise<boolean> {
    // A Perl that ends at once must be heard, even when nothing else keeps this process alive.
    this.#process.ref();
    const descriptor = await Promise.race([this.#answered, delay(READY_MS, undefined, { ref: false })]);
    this.#process.unref();
    this.#keepAwake();
    if (descriptor === undefined) return false;
    try {
      closeSync(this.#open(descriptor, constants.O_RDONLY));
      return true;
    } catch {
      return false;
    }
  }

  launch(request: LaunchRequest): Promise<Launched | StartFailure> {
    if (!this.#alive) return Promise.reject(launcherLost());
    const id = this.#nextId++;
    let exited: (exit: ChildExit) => void = () => {};
    const exit = new Promise<ChildExit>((resolve) => {
      exited = resolve;
    });
    const { argv, cwd, descriptors, joinFiles = [], boundary = "" } = request;
    const secret = randomUUID();
    const given = descriptors.map((each) => {
      if (typeof each !== "string") {
        return "terminal" in each ? `terminal:${each.terminal}` : `/proc/${process.pid}/fd/${each.ours}`;
      }
      return each === "report" ? `report:${secret}` : each;
    });
    return new Promise((started, lost) => {
      this.#send([
        ...[
          "start",
          String(id),
          cwd,
          given.join(" "),
          joinFiles.join("\n"),
          String(boundary),
          String(argv.length),
        ],
        ...argv,
        ...Object.entries(request.env).flat(),
      ]);
      const ends = descriptors.filter((each) => each === "input" || each === "output" || each === "flood");
      this.#running.set(id, { ends, secret, started, lost, exited, exit });
      this.#keepAwake();
    });
  }

  /** Makes a boundary to start programs in: its number, or why it cannot be made. */
  async enclose(request: Enclosure): Promise<number | { readonly problem: string }> {
    const { argv, namespaces, allIds, capabilities, filter } = request;
    const filterText = Buffer.from(filter ?? []).toString("hex");
    const allowed = capabilities.toString(16);
    const all = allIds ? "1" : "";
    return this.#makeBoundary((id) => [
      "enclose",
      id,
      namespaces.join(" "),
      all,
      allowed,
      filterText,
      ...argv,
    ]);
  }

  /** The same with Landlock: `rules` are `r` or `w` and a path each, and all else is closed. */
  async shut(
    rules: readonly string[],
    { capabilities, filter }: Pick<Enclosure, "capabilities" | "filter">,
  ): Promise<number | { readonly problem: string }> {
    const filterText = Buffer.from(filter ?? []).toString("hex");
    return this.#makeBoundary((id) => ["shut", id, capabilities.toString(16), filterText, ...rules]);
  }

  async #makeBoundary(
    request: (id: string) => readonly string[],
  ): Promise<number | { readonly problem: string }> {
    if (!this.#alive) throw launcherLost();
    const id = this.#nextId++;
    const answer = new Promise<string>((resolve) => this.#enclosing.set(id, resolve));
    this.#keepAwake();
    this.#send(request(String(id)));
    const problem = await Promise.race([answer, delay(READY_MS, "it took too long", { ref: false })]);
    this.#enclosing.delete(id);
    this.#keepAwake();
    return problem === "" ? id : { problem };
  }

  /** Programs that were started in it go on. */
  dissolve(boundary: number): void {
    if (this.#alive) this.#send(["dissolve", String(boundary)]);
  }

  /**
   * Whether something runs whose parents have ended: the launcher is its parent then, wherever it went. True where nobody
   * can tell: after the launcher was killed, or on a kernel that does not list children.
   */
  hasOrphans(): boolean {
    if (!this.#alive) return !this.#closing;
    const awaited = new Set([...this.#running.values()].map(({ pid }) => String(pid)));
    try {
      const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8");
      return children.split(" ").some((pid) => pid !== "" && !awaited.has(pid));
    } catch {
      return true;
    }
  }

  /** How many of those that run are not awaited by anybody. */
  expectIdle(count: number): void {
    this.#idle = count;
    this.#keepAwake();
  }

  /** Programs with this runtime's mark were started by others; they must end with it too. */
  watchForStrangers(): void {
    this.#send(["strangers"]);
  }

  /** Ends everything it started, and itself. */
  async close(): Promise<void> {
    this.#closing = true;
    if (!this.#alive) return;
    this.#process.ref();
    this.#events?.ref();
    this.#requests?.end();
    await Promise.race([this.#over, delay(CLOSE_MS, undefined, { ref: false })]);
    if (this.#alive) this.#process.kill("SIGKILL");
  }

  #send(fields: readonly string[]): void {
    if (this.#requests?.writable) this.#requests.write(encodeRequest(fields));
  }

  #on(event: LauncherEvent): void {
    if (event.event === "ready") {
      this.#answer(event.descriptor);
      return;
    }
    if (event.event === "enclosed") {
      const tell = this.#enclosing.get(event.id);
      // Nobody waits any more for one that took too long.
      if (tell === undefined) this.dissolve(event.id);
      else tell(event.problem);
      return;
    }
    const running = this.#running.get(event.id);
    if (running === undefined) return;
    if (event.event === "started") {
      running.pid = event.pid;
      running.started(this.#connect(running, event));
      if (event.ends.length > 0) this.#send(["opened", String(event.id)]);
      return;
    }
    this.#running.delete(event.id);
    this.#keepAwake();
    if (event.event === "exited") {
      const report = { text: event.report, secret: running.secret };
      running.exited({ kind: "exited", ...endOf(event.status), report });
      return;
    }
    const failure = { stage: stageOf(event.stage), code: getSystemErrorName(-event.errno) };
    running.started(failure);
    running.exited({ kind: "failed", ...failure });
  }

  #connect(
    running: Running,
    event: { readonly pid: number; readonly ends: readonly number[] },
  ): Launched | StartFailure {
    const ends: number[] = [];
    try {
      for (const [index, descriptor] of event.ends.entries()) {
        const flags = running.ends[index] === "input" ? constants.O_WRONLY : constants.O_RDONLY;
        ends.push(this.#open(descriptor, flags));
      }
    } catch (error) {
      ends.forEach(closeSync);
      endGroup(event.pid);
      return { stage: "resources", code: errnoOf(error) ?? "EIO" };
    }
    return { pid: event.pid, exited: running.exit, ends };
  }

  #open(descriptor: number, flags: number): number {
    return openSync(`/proc/${this.#process.pid}/fd/${descriptor}`, flags | constants.O_NONBLOCK);
  }

  /** While something runs, its end is awaited; an idle launcher keeps nobody alive. */
  #keepAwake(): void {
    const busy = this.#alive && this.#running.size + this.#enclosing.size > this.#idle;
    if (busy) this.#events?.ref();
    else this.#events?.unref();
    if (busy) this.#goingOn ??= setInterval(() => this.#process.kill("SIGCONT"), GO_ON_MS).unref();
    else {
      clearInterval(this.#goingOn);
      this.#goingOn = undefined;
    }
  }

  #end(): void {
    this.#alive = false;
    this.#answer(undefined);
    for (const running of this.#running.values()) {
      running.lost(launcherLost());
      running.exited({ kind: "lost" });
    }
    this.#running.clear();
    for (const answer of this.#enclosing.values()) answer("the helper process that starts commands ended");
    this.#enclosing.clear();
    this.#keepAwake();
  }
}

function endOf(status: number): { readonly code: number; readonly signal?: number } {
  const signal = status & 0x7f;
  return signal === 0 ? { code: status >> 8 } : { code: 128 + signal, signal };
}

function stageOf(stage: string): StartFailure["stage"] {
  return stage === "folder" || stage === "program" ? stage : "resources";
}

function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Ended already.
  }
}
