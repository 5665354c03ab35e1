import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { Environment, ExecRequest, ExecResult } from "../environment.js";
import { missingFolder } from "../missing-folder.js";
import { createLocalFiles } from "./local-files.js";
import type { Unavailable } from "../sandbox/probe.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { SandboxOptions } from "../sandbox/types.js";

export interface LocalEnvironmentOptions {
  readonly name?: string;
  /** The environment the allow-list picks from; the runtime's own by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** Variables let through on top of the allow-list. */
  readonly passthrough?: readonly string[];
  /** Folder for what must touch the disk for a moment; the system's temporary folder by default. */
  readonly stateDir?: string;
  /** The boundary around commands; without it they run with all rights of this process. */
  readonly sandbox?: SandboxOptions;
}

/** The machine this runtime runs on. Each exec is a fresh `bash -c` in a process group of its own. */
export function createLocalEnvironment(options: LocalEnvironmentOptions = {}): Environment {
  const name = options.name ?? "local";
  const env = options.env ?? process.env;
  // Loaded with the first command: a session that only touches files never needs them.
  let machinery: ReturnType<typeof loadMachinery> | undefined;
  let sandboxing: Promise<Sandbox | Unavailable> | undefined;
  /** What runs, with the switch that ends it. */
  const running = new Map<AbortController, Promise<unknown>>();
  let closed = false;

  async function exec(request: ExecRequest): Promise<ExecResult> {
    machinery ??= loadMachinery({ folder: options.stateDir, path: env.PATH });
    const { pipes, runProcess } = await machinery;
    const sandbox = await sandboxFor(request);
    await requireDirectory(request.cwd);
    if (closed) {
      throw new ToolError(`The environment ${name} is closed.`, {
        code: "unavailable",
        hint: "Open a new session.",
      });
    }
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) stop.abort();
    const run = runProcess(
      { ...request, signal: stop.signal },
      { env, passthrough: options.passthrough ?? [], pipes, sandbox },
    );
    running.set(stop, run);
    try {
      return await run;
    } finally {
      running.delete(stop);
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  async function sandboxFor(request: ExecRequest): Promise<Sandbox | undefined> {
    const wanted = options.sandbox;
    if (wanted === undefined || wanted.mode === "off") return undefined;
    if (request.sandbox?.off === true && wanted.mode === "auto") return undefined;
    sandboxing ??= import("../sandbox/sandbox.js").then(({ createSandbox }) =>
      createSandbox({ ...wanted, home: env.HOME || homedir() }),
    );
    const sandbox = await sandboxing;
    if (request.sandbox?.off === true) throw mustStayInside();
    if (!("unavailable" in sandbox)) return sandbox;
    if (wanted.mode === "auto") return undefined;
    throw new ToolError(`No command runs without a sandbox (terminal.sandbox): ${sandbox.unavailable}.`, {
      code: "unavailable",
      hint: `To run commands: ${sandbox.fix}, or set terminal.sandbox to auto or off.`,
    });
  }

  async function close(): Promise<void> {
    closed = true;
    for (const stop of running.keys()) stop.abort();
    await Promise.allSettled(running.values());
    (await machinery)?.pipes.close();
    const sandbox = await sandboxing?.catch(() => undefined);
    if (sandbox !== undefined && !("unavailable" in sandbox)) sandbox.close();
  }

  return {
    name,
    kind: "local",
    files: createLocalFiles({ home: () => env.HOME || homedir() }),
    exec,
    close,
  };
}

function mustStayInside(): ToolError {
  return new ToolError("Commands may not leave the sandbox: terminal.sandbox is set to required.", {
    code: "denied",
    hint: 'Ask for what the command needs instead (widen: ["network"] or ["write:/path"]).',
  });
}

async function loadMachinery(options: {
  readonly folder: string | undefined;
  readonly path: string | undefined;
}) {
  const [{ PipeStock }, { runProcess }] = await Promise.all([
    import("./pipes.js"),
    import("./run-process.js"),
  ]);
  return { pipes: new PipeStock(options), runProcess };
}

async function requireDirectory(cwd: string): Promise<void> {
  const refuse = (why: string) => {
    throw new ToolError(`Cannot run in ${JSON.stringify(cwd)}: ${why}.`, {
      hint: "Give an existing folder as the working directory.",
    });
  };
  if (cwd.includes("\0")) refuse("the path holds a NUL byte");
  if (!isAbsolute(cwd)) refuse("the working directory must be an absolute path");
  try {
    if (!(await stat(cwd)).isDirectory()) refuse("it is not a folder");
    await access(cwd, constants.X_OK);
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw missingFolder(cwd);
    refuse(code === "EACCES" ? "permission denied" : String(code ?? error));
  }
}
