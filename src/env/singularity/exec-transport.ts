import { once } from "node:events";
import type { Writable } from "node:stream";
import type { RunningProcess, TerminalSize } from "../environment.js";
import type { Child } from "../local/child.js";
import type { Transport, TransportEnd, TransportProcess, TransportStart } from "../remote/transport.js";
import type { Instance } from "./instance.js";
import { type ContainerProgram, couldNotStart, marked } from "./program.js";
import type { SingularityOptions } from "./singularity.js";

/** The program's own exit code for everything that goes wrong before a command runs. */
const OWN_FAILURE = 255;

/** Keys such as ^C are for the command; in one group with it they would end the program that holds it as well. */
const OWN_GROUP = ["sh", "-c", 'set -m; "$@"; exit', "sh"];

/** Starts programs in the instance: `apptainer exec instance://… program`. */
export function execTransport(parts: {
  readonly program: ContainerProgram;
  readonly instance: Instance;
  readonly options: SingularityOptions;
}): Transport {
  const { program, instance, options } = parts;
  return {
    async start(request: TransportStart): Promise<TransportProcess> {
      await instance.start();
      const argv = [
        ...[program.path, "--silent", "exec", "--cleanenv", `instance://${instance.name}`],
        ...(request.pty === undefined ? [] : OWN_GROUP),
        ...request.argv,
      ];
      if (request.pty !== undefined)
        return inTerminal({ argv, request, size: request.pty, program, instance });
      const child = await options.starter.start({
        argv,
        cwd: "/",
        ...marked(program.env),
        input: inputOf(request),
        report: false,
        // The starter uses its buffers again.
        onOutput: (bytes) => request.onStdout(Buffer.from(bytes)),
        onStderr: (bytes) => request.onStderr(Buffer.from(bytes)),
      });
      if (!("pid" in child)) throw couldNotStart(program.path, child.code);
      return overPipes(child, instance);
    },
  };
}

function inputOf(request: TransportStart): "nothing" | "open" | { readonly bytes: string | Uint8Array } {
  if (request.stdin === undefined) return "nothing";
  return request.stdin === "open" ? "open" : { bytes: request.stdin };
}

function overPipes(child: Child, instance: Instance): TransportProcess {
  let letGo = () => {};
  const abandoned = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const ended = child.exited.then(async (exit): Promise<TransportEnd> => {
    await Promise.race([child.outputEnded, abandoned]);
    if (exit.kind !== "exited") return { lost: "the program that runs commands in the container was ended" };
    return endOf(exit.code, instance);
  });
  return {
    ended: Promise.race([ended, abandoned.then((): TransportEnd => ({ exitCode: OWN_FAILURE }))]),
    write: (data) => writeTo(child.input, data),
    closeInput: async () => {
      child.input?.end();
    },
    resize: () => undefined,
    pauseOutput: (paused) => child.pauseOutput(paused),
    abandon() {
      letGo();
      child.letGo();
    },
  };
}

async function writeTo(stream: Writable | undefined, data: string | Uint8Array): Promise<void> {
  if (stream === undefined || stream.writableEnded || stream.destroyed) return;
  if (!stream.write(data)) await Promise.race([once(stream, "drain"), once(stream, "close")]);
}

/** The program answers with one code for its own failures, and a command may end with it too. */
async function endOf(code: number, instance: Instance): Promise<TransportEnd> {
  if (code !== OWN_FAILURE && code < 128) return { exitCode: code };
  if (await instance.isRunning()) return { exitCode: code };
  instance.forget();
  return { lost: "the container has ended" };
}

async function inTerminal(parts: {
  readonly argv: readonly string[];
  readonly request: TransportStart;
  readonly size: TerminalSize;
  readonly program: ContainerProgram;
  readonly instance: Instance;
}): Promise<TransportProcess> {
  const { spawnInPty } = await import("../pty/local-pty.js");
  const running: RunningProcess = await spawnInPty({
    argv: parts.argv,
    cwd: "/",
    ...marked(parts.program.env),
    size: parts.size,
    onOutput: (bytes) => parts.request.onStdout(bytes),
  });
  return {
    ended: running.ended.then(({ exitCode, lost }) =>
      lost === undefined ? endOf(exitCode, parts.instance) : { lost },
    ),
    write: (data) => running.write(data),
    closeInput: () => running.closeInput(),
    resize: (size) => running.resize(size),
    pauseOutput: (paused) => running.pauseOutput(paused),
    abandon: () => void running.end(),
  };
}
