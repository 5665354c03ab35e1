import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ProgramRequest, Survivor, TerminalSize } from "../environment.js";
import { EXEC_MARK, RUNTIME_MARK } from "../local/marks.js";
import type { Connection } from "./connection.js";
import { endThere } from "./end-trees.js";
import type { Probe } from "./probe.js";
import { noShell, reasonOf } from "./remote-error.js";
import type { TransportProcess } from "./transport.js";
import { requireUsable } from "./variables.js";
import { cannotRunIn, Inbox, wrap } from "./wrapper.js";

/** How long the end of stdout, which the wrapper marks, may be behind that of the command while nothing comes. */
const SILENCE_MS = 15_000;
/** How long a tree that has been ended may take to show it. */
const SHOW_LIMIT_MS = 15_000;
const ASK_AGAIN_MS = 500;
const KILLED = 137;

export interface ProgramStart extends ProgramRequest {
  readonly connection: Connection;
  readonly probe: Probe;
  readonly mark: string;
  readonly streams: "merged" | "apart" | "terminal";
  readonly pty?: TerminalSize | undefined;
  /** All of the input, "open" for writing later, or none. */
  readonly stdin?: Uint8Array | "open" | undefined;
  onStdout(bytes: Uint8Array): void;
  /** Only when the streams are apart. */
  onStderr?(bytes: Uint8Array): void;
}

export type ProgramEnd = { readonly exitCode: number } | { readonly lost: string };
export type TreeEnd = { readonly survivors: readonly Survivor[] } | { readonly lost: string };

/** A command that runs there inside its wrapper. */
export interface RemoteProgram {
  readonly process: TransportProcess;
  readonly inbox: Inbox;
  /** It is over and its output has arrived. Rejects when it could not begin. */
  readonly over: Promise<ProgramEnd>;
  pauseOutput(paused: boolean): void;
  /** Ends its whole tree. */
  end(): Promise<TreeEnd>;
}

export async function startProgram(start: ProgramStart): Promise<RemoteProgram> {
  const { connection, probe, mark } = start;
  requireUsable(start, probe.base);
  requireAbsolute(start.cwd);
  const token = randomBytes(12).toString("hex");
  const { argv, header } = wrap({
    command: start.command,
    cwd: start.cwd,
    env: {
      ...probe.added,
      ...terminalName(start),
      ...start.env,
      [EXEC_MARK]: mark,
      [RUNTIME_MARK]: connection.mark,
    },
    shell: probe.shell,
    token,
    streams: start.streams,
    hasInput: start.stdin !== undefined,
  });
  const inbox = new Inbox({
    token,
    name: connection.name,
    cwd: start.cwd,
    streams: start.streams,
    onStdout: (bytes) => start.onStdout(bytes),
    onStderr: (bytes) => start.onStderr?.(bytes),
  });
  connection.noteUse();
  const open = start.stdin === "open" || start.streams === "terminal";
  const process = await connection.transport.start({
    argv,
    stdin: open
      ? "open"
      : Buffer.concat([header, start.stdin instanceof Uint8Array ? start.stdin : Buffer.alloc(0)]),
    pty: start.pty,
    onStdout: (bytes) => inbox.stdout(bytes),
    onStderr: (bytes) => inbox.stderr(bytes),
  });
  if (open) {
    // A terminal would echo and rewrite what comes before it is ready.
    if (start.streams === "terminal") await Promise.race([inbox.terminalReady.promise, process.ended]);
    await process.write(header).catch(() => {});
  }
  const follow = new Follow({ start, process, inbox });
  return {
    process,
    inbox,
    over: follow.over,
    pauseOutput: (paused) => follow.pauseOutput(paused),
    end: () => follow.end(),
  };
}

/** From the start of a program to its end, whoever ends it. */
class Follow {
  readonly over: Promise<ProgramEnd>;
  readonly #parts: {
    readonly start: ProgramStart;
    readonly process: TransportProcess;
    readonly inbox: Inbox;
  };
  #abandoned = false;
  #paused = false;
  #streamsEnded = false;

  constructor(parts: { start: ProgramStart; process: TransportProcess; inbox: Inbox }) {
    this.#parts = parts;
    this.over = this.#toTheEnd();
    this.over.catch(() => {});
  }

  async #toTheEnd(): Promise<ProgramEnd> {
    const { process, inbox, start } = this.#parts;
    const streams = process.ended.then((end) => {
      this.#streamsEnded = true;
      return end;
    });
    const first = await Promise.race([streams, inbox.exited.promise]);
    if (typeof first === "number") {
      // The two streams come on ways of their own. A grandchild may hold them for hours.
      await Promise.race([streams, inbox.stdoutOver.promise, this.#silent()]);
      if (!this.#streamsEnded) process.abandon();
    }
    inbox.finish();
    const known = typeof first === "number" ? first : inbox.exited.value;
    if (known === undefined && typeof first === "object" && "lost" in first) {
      inbox.begun.resolve(true);
      if (this.#abandoned) return { exitCode: KILLED };
      start.connection.noteLost(first.lost, start.mark);
      return first;
    }
    if (inbox.pid === undefined && inbox.wrapperPid === undefined) {
      inbox.begun.reject(noShell(start.connection.name, inbox.noise));
    }
    inbox.begun.resolve(true);
    await inbox.begun.promise;
    if (known !== undefined) return { exitCode: known };
    return typeof first === "object" && "exitCode" in first ? first : { exitCode: KILLED };
  }

  pauseOutput(paused: boolean): void {
    this.#paused = paused;
    this.#parts.process.pauseOutput(paused);
  }

  /** Nothing has come for long: the wrapper was killed before it could mark the end. */
  async #silent(): Promise<void> {
    const { inbox } = this.#parts;
    let since = performance.now();
    while (!this.#streamsEnded && inbox.stdoutOver.value === undefined) {
      const quietFor = performance.now() - Math.max(since, inbox.lastArrival);
      if (quietFor >= SILENCE_MS) return;
      await delay(Math.min(SILENCE_MS - quietFor, ASK_AGAIN_MS), undefined, { ref: false });
      // What has not been taken yet is not late.
      if (this.#paused) since = performance.now();
    }
  }

  async end(): Promise<TreeEnd> {
    const { start, inbox } = this.#parts;
    const deadline = performance.now() + SHOW_LIMIT_MS;
    const settled = this.over.then(
      () => true,
      () => true,
    );
    for (;;) {
      // Once the wrapper has ended, its number may belong to another process.
      const wrapperRuns = !this.#streamsEnded && inbox.exited.value === undefined;
      const result = await endThere({
        transport: start.connection.transport,
        marks: [`${EXEC_MARK}=${start.mark}`],
        wrappers: wrapperRuns && inbox.wrapperPid !== undefined ? [inbox.wrapperPid] : [],
      }).catch((error: unknown) => ({ lost: reasonOf(error) }));
      if ("lost" in result) {
        start.connection.noteLost(result.lost, start.mark);
        this.#letGo();
        return result;
      }
      const shown = await Promise.race([settled, delay(ASK_AGAIN_MS, false, { ref: false })]);
      if (shown) return result;
      if (result.survivors.length > 0 || performance.now() > deadline) {
        this.#letGo();
        return result;
      }
      // It had not begun when its mark was looked for: look again.
    }
  }

  #letGo(): void {
    this.#abandoned = true;
    this.#parts.process.abandon();
  }
}

function terminalName({ streams, probe }: ProgramStart): Record<string, string> {
  const given = probe.base.TERM;
  if (streams !== "terminal") return {};
  return { TERM: given === undefined || given === "dumb" ? "xterm-256color" : given };
}

function requireAbsolute(cwd: string): void {
  if (cwd.includes("\0")) throw cannotRunIn(cwd, "the path holds a NUL byte");
  if (!cwd.startsWith("/")) throw cannotRunIn(cwd, "the working directory must be an absolute path");
}
