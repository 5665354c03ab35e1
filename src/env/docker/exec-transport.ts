import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { TerminalSize } from "../environment.js";
import type { Transport, TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";
import type { Container, RunningContainer } from "./container.js";
import { EngineError, engineFailure, isGone, isNotRunning } from "./engine-api.js";
import type { Engine } from "./find-engine.js";
import { FrameReader } from "./frame-reader.js";

/** Asked when a stream has ended. An engine that is going down may take the question and never answer. */
const QUESTION_MS = 2_000;
const MAX_UNANSWERED = 15;
/** The end of a program is told a moment before the end of the container that took it along. */
const CONTAINER_END_MS = 300;
/** Commands that are over before are not watched. */
const WATCHED_FROM_MS = 500;
/** For what is on its way when the container ends. */
const LAST_WORDS_MS = 500;
const KILLED = 137;
/** Keys that make the engine cut the connection. They cannot be switched off, so: four that nobody types. */
const DETACH_KEYS = "ctrl-^,ctrl-_,ctrl-^,ctrl-_";
/** Older engines give a new terminal no size, and the program would see none until they are asked to change it. */
const SIZED = 'stty rows "$1" cols "$2" 2>/dev/null; shift 2; exec "$@"';
const SIZE_AT_START = 42;
/**
 * When a program ends before it has read all of its input, Podman says so among the program's output, and drops
 * the output that has not been passed on. So what is left of a long input is read behind the program's back.
 */
const DRAINED = '"$@"; status=$?; cat >/dev/null 2>&1; exit "$status"';
const SHORT_INPUT = 16_384;
/** That message, for the few who end before a short one has reached them. */
const PODMAN_NOISE = /^Error: (?:read|write) unixpacket @->\S*\/attach: .*\n$/;

/** `exec` of the engine's interface: one program in the running container. */
export function createExecTransport(engine: Engine, container: Container): Transport {
  return {
    async start(request) {
      const { execId, seen } = await createExec(request);
      try {
        const body = { Detach: false, Tty: request.pty !== undefined, ...consoleSize(request.pty) };
        const { socket, head } = await engine.api.hijack({ path: `/exec/${execId}/start`, body });
        return new ExecProcess({ engine, container, seen, execId, socket, head, request });
      } catch (error) {
        container.doubt(seen);
        throw engineFailure("The command cannot be started in the container", error);
      }
    },
  };

  async function createExec(request: TransportStart) {
    for (let attempt = 1; ; attempt++) {
      const seen = await container.running();
      try {
        const { Id } = await engine.api.json<{ readonly Id: string }>({
          method: "POST",
          path: `/containers/${seen.id}/exec`,
          body: {
            AttachStdin: request.stdin !== undefined,
            AttachStdout: true,
            AttachStderr: true,
            Tty: request.pty !== undefined,
            DetachKeys: request.pty === undefined ? undefined : DETACH_KEYS,
            ...consoleSize(request.pty),
            Cmd: await commandLine(request),
          },
        });
        return { execId: Id, seen };
      } catch (error) {
        container.doubt(seen);
        // Nothing has run yet, so it may be tried again in a container that was brought back.
        if (attempt > 1 || !(isGone(error) || isNotRunning(error)))
          throw engineFailure("The command cannot be started in the container", error);
      }
    }
  }

  async function commandLine({ argv, pty, stdin }: TransportStart): Promise<readonly string[]> {
    const podman = engine.facts.kind === "podman";
    if (podman && stdin !== undefined && stdin !== "open" && stdin.length > SHORT_INPUT)
      return ["sh", "-c", DRAINED, "sh", ...argv];
    const [, minor = "0"] = (await engine.api.version()).split(".");
    // Podman takes the size since long, but not by this interface.
    const sized = Number(minor) >= SIZE_AT_START && !podman;
    if (pty === undefined || sized) return argv;
    return ["sh", "-c", SIZED, "sh", String(pty.rows), String(pty.columns), ...argv];
  }
}

function consoleSize(pty: TerminalSize | undefined) {
  return pty === undefined ? {} : { ConsoleSize: [pty.rows, pty.columns] };
}

function isPodmanNoise(bytes: Uint8Array): boolean {
  return bytes.length < 300 && PODMAN_NOISE.test(Buffer.from(bytes).toString("latin1"));
}

interface ExecParts {
  readonly engine: Engine;
  readonly container: Container;
  readonly seen: RunningContainer;
  readonly execId: string;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly request: TransportStart;
}

class ExecProcess implements TransportProcess {
  readonly ended: Promise<TransportEnd>;
  readonly #parts: ExecParts;
  #over = false;
  #resized: Promise<unknown> | undefined;
  #resolve: (end: TransportEnd) => void = () => {};
  #unwatch: () => void = () => {};

  constructor(parts: ExecParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { socket, head, request } = parts;
    const take = this.#receiver(request);
    if (head.length > 0) take(head);
    socket.on("data", take);
    // What an error means is found out from the engine, like any other end: a program that does not read all
    // of its input makes one too.
    socket.on("error", () => {});
    socket.once("end", () => socket.destroy());
    socket.once("close", () => void this.#finish());
    if (request.stdin !== undefined && request.stdin !== "open") socket.end(request.stdin);
    if (parts.engine.facts.kind === "podman") this.#watchContainer();
  }

  /**
   * When a container is removed, Podman holds the streams of its programs open: it looks for the exit code, which was
   * removed with the container, for five seconds.
   */
  #watchContainer(): void {
    const { container, seen } = this.#parts;
    const timer = setTimeout(() => {
      this.#unwatch = container.ends.listen(seen, () => {
        const patience = setTimeout(() => void this.#lose(), LAST_WORDS_MS);
        this.#unwatch = () => clearTimeout(patience);
      });
    }, WATCHED_FROM_MS);
    this.#unwatch = () => clearTimeout(timer);
  }

  async #lose(): Promise<void> {
    const { container, seen, socket } = this.#parts;
    const lost = await this.#containerEnded().catch(() => undefined);
    if (this.#over) return;
    container.doubt(seen);
    this.#end({ lost: lost ?? "the container ended while it ran" });
    socket.destroy();
  }

  async write(data: string | Uint8Array): Promise<void> {
    const { socket } = this.#parts;
    // What is typed after a change of size is meant for the new one, and the engine takes both on different ways. Podman
    // answers a moment before the terminal has its new size.
    await this.#resized;
    if (this.#over || !socket.writable) return;
    await new Promise<void>((resolve) => {
      socket.write(data, () => resolve());
    });
  }

  async closeInput(): Promise<void> {
    if (!this.#over) this.#parts.socket.end();
  }

  resize(size: TerminalSize): void {
    const { engine, execId } = this.#parts;
    const query = { h: size.rows, w: size.columns };
    // A program that has ended meanwhile has no terminal to change.
    this.#resized = engine.api
      .send({ method: "POST", path: `/exec/${execId}/resize`, query, timeoutMs: QUESTION_MS })
      .catch(() => {});
  }

  pauseOutput(paused: boolean): void {
    if (paused) this.#parts.socket.pause();
    else this.#parts.socket.resume();
  }

  abandon(): void {
    this.#end({ lost: "it was let go before its streams had ended" });
    this.#parts.socket.destroy();
  }

  #receiver(request: TransportStart): (chunk: Buffer) => void {
    const stdout = (bytes: Uint8Array) => {
      if (!this.#over) request.onStdout(bytes);
    };
    const podman = this.#parts.engine.facts.kind === "podman";
    const stderr = (bytes: Uint8Array) => {
      if (this.#over || (podman && isPodmanNoise(bytes))) return;
      request.onStderr(bytes);
    };
    if (request.pty !== undefined) return stdout;
    const frames = new FrameReader({ onStdout: stdout, onStderr: stderr });
    return (chunk) => frames.push(chunk);
  }

  #end(end: TransportEnd): void {
    this.#over = true;
    this.#unwatch();
    this.#resolve(end);
  }

  async #finish(): Promise<void> {
    if (this.#over) return;
    const end = await this.#askHowItEnded();
    if ("lost" in end) this.#parts.container.doubt(this.#parts.seen);
    this.#end(end);
  }

  async #askHowItEnded(): Promise<TransportEnd> {
    try {
      const exitCode = await this.#exitCode();
      if (exitCode === undefined) return { lost: "the connection to the container engine was cut" };
      if (exitCode !== KILLED) return { exitCode };
      const lost = await this.#containerEnded();
      return lost === undefined ? { exitCode } : { lost };
    } catch (error) {
      const why = error instanceof EngineError ? error.message : String(error);
      if (!isGone(error)) return { lost: `the container engine went away (${why})` };
      const { container, seen } = this.#parts;
      const there = await container.inspect(seen.id, QUESTION_MS).catch(() => undefined);
      return { lost: there === undefined ? "the container was removed" : "the engine forgot how it ended" };
    }
  }

  /** Undefined when it still runs although its streams have ended. */
  async #exitCode(): Promise<number | undefined> {
    const { engine, execId } = this.#parts;
    let unanswered = 0;
    let unknown = 0;
    for (let wait = 5; wait < 1_000; ) {
      try {
        const { Running, ExitCode } = await engine.api.json<{
          readonly Running: boolean;
          readonly ExitCode: number | null;
        }>({ path: `/exec/${execId}/json`, timeoutMs: QUESTION_MS });
        if (!Running && ExitCode !== null) return ExitCode;
        await delay(wait);
        wait *= 2;
      } catch (error) {
        // Podman does not see a program for a moment while others are started beside it.
        if (isUnseen(error) && ++unknown <= MAX_UNSEEN) {
          await delay(UNSEEN_MS);
          continue;
        }
        // Busy is not gone: as long as it answers at all, it is asked again.
        const slow = error instanceof EngineError && error.code === "ETIMEDOUT";
        if (!slow || ++unanswered > MAX_UNANSWERED || !(await this.#engineAnswers())) throw error;
      }
    }
    return undefined;
  }

  #engineAnswers(): Promise<boolean> {
    const { api } = this.#parts.engine;
    return api.ping(QUESTION_MS).then(
      () => true,
      () => false,
    );
  }

  async #containerEnded(): Promise<string | undefined> {
    const { container, seen } = this.#parts;
    const deadline = performance.now() + CONTAINER_END_MS;
    for (;;) {
      const found = await container.inspect(seen.id, QUESTION_MS);
      if (found === undefined) return "the container was removed";
      const { Running, ExitCode, OOMKilled, StartedAt } = found.State;
      if (!Running)
        return `the container ended (code ${ExitCode}${OOMKilled ? ", out of memory" : ""}) while it ran`;
      if (StartedAt !== seen.startedAt) return "the container was started anew while it ran";
      if (performance.now() > deadline) return undefined;
      await delay(50);
    }
  }
}

const MAX_UNSEEN = 40;
const UNSEEN_MS = 50;

function isUnseen(error: unknown): boolean {
  return error instanceof EngineError && /no such exec session/.test(error.message);
}
