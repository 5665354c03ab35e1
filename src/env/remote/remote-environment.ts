import { within } from "../../base/deadline.js";
import { ToolError } from "../../tool/errors.js";
import type {
  Environment,
  EnvironmentDescription,
  EnvironmentKind,
  ExecRequest,
  ExecResult,
  RunningProcess,
  SpawnRequest,
  Transfer,
  TransferReport,
} from "../environment.js";
import { Connection } from "./connection.js";
import { closedError, reasonOf } from "./remote-error.js";
import { execThere } from "./remote-exec.js";
import { createRemoteFiles } from "./remote-files.js";
import { spawnThere } from "./remote-spawn.js";
import { fetchFromThere, pushToThere } from "./transfer.js";
import type { Transport } from "./transport.js";

/**
 * A kind of environment elsewhere is a transport and a life cycle; shell lines, time limits, ending trees, files
 * and transfers come from this folder.
 */
export interface RemoteEnvironmentOptions {
  /** Shown in results and errors, e.g. "docker". */
  readonly name: string;
  readonly kind: EnvironmentKind;
  /** Starts programs there. It needs no shell of its own: every argv begins with `sh` or `bash`. */
  readonly transport: Transport;
  /** Absolute path there, or "~" for the home folder there. */
  readonly defaultCwd: string;
  /** Give commands the variables of a login shell (ssh); otherwise those the transport starts programs with. */
  readonly loginShell: boolean;
  /** How long a login shell may take; 30 s by default. */
  readonly loginLimitMs?: number | undefined;
  /** Variables the operator sends along. They travel on standard input, never on a command line. */
  readonly passthrough?: Readonly<Record<string, string>> | undefined;
  /** Programs there end when this runtime is killed, by a watcher that is started with the first one. */
  readonly endWithRuntime?: boolean | undefined;
  /** Called once, after everything that was started has been ended: disconnects, removes the container. */
  close(): Promise<void>;
  /**
   * `close` ends every program there by itself, because a container or a sandbox goes with it. Otherwise what
   * commands have left in the background is looked for and ended before.
   */
  readonly closeEndsAll?: boolean | undefined;
  /** Facts for `describe`; called after a successful connection. */
  facts(): Promise<Readonly<Record<string, string>>>;
  /** Only where the service can keep its file system. */
  snapshot?: (() => Promise<{ readonly id: string }>) | undefined;
  /** Told each time the connection turns out to be lost, before the error reaches the caller. */
  onLost?(why: string): void;
  /** A faster way to copy than a tar stream through the transport. */
  fetch?(transfer: Transfer): Promise<TransferReport>;
  push?(transfer: Transfer): Promise<TransferReport>;
}

/**
 * `connect` is called before the environment is handed out: paths beginning with `~` can only be resolved
 * when the home folder there is known.
 */
export interface RemoteEnvironment extends Environment {
  /** Connects and looks around there; rejects with a ToolError (`unavailable`) that says why and what to do. */
  connect(): Promise<RemoteFacts>;
}

/** What was seen when the connection was made. */
export interface RemoteFacts {
  readonly home: string;
  readonly user: string;
  readonly system: string;
  readonly shell: "bash" | "sh";
  /** Where commands start when nothing else is said. */
  readonly cwd: string;
}

/** A connection or an engine that does not answer must not keep a runtime from closing. */
const CLOSING_LIMIT_MS = 10_000;
const LETTING_GO_LIMIT_MS = 20_000;

/** An environment over a transport. Nothing is started until `connect` or the first use. */
export function createRemoteEnvironment(options: RemoteEnvironmentOptions): RemoteEnvironment {
  const { name, kind } = options;
  const connection = new Connection(options);
  /** What runs to its end, with the switch that ends it. */
  const commands = new Map<AbortController, Promise<unknown>>();
  const processes = new Set<RunningProcess>();
  const starting = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function exec(request: ExecRequest): Promise<ExecResult> {
    requireOpen();
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) stop.abort();
    const run = execThere({ ...request, signal: stop.signal }, connection);
    commands.set(stop, run);
    try {
      return await run;
    } finally {
      commands.delete(stop);
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  async function spawn(request: SpawnRequest): Promise<RunningProcess> {
    requireOpen();
    const start = spawnThere(request, connection);
    starting.add(start);
    try {
      const process = await start;
      processes.add(process);
      void process.ended.then(() => processes.delete(process));
      return process;
    } finally {
      starting.delete(start);
    }
  }

  function requireOpen(): void {
    if (closing !== undefined) throw closedError(name);
  }

  async function connect(): Promise<RemoteFacts> {
    const { home, user, system, shell } = await connection.ready();
    return { home, user, system, shell: shell.kind, cwd: startFolder(home) };
  }

  function startFolder(home: string): string {
    const { defaultCwd } = options;
    if (defaultCwd === "~") return home;
    return defaultCwd.startsWith("~/") ? `${home}${defaultCwd.slice(1)}` : defaultCwd;
  }

  async function describe(): Promise<EnvironmentDescription> {
    try {
      const { home, user, system, shell, cwd } = await connect();
      const problem = connection.last?.loginProblem;
      const facts = {
        user,
        system,
        shell,
        ...(problem !== undefined && { variables: `plain: ${problem}` }),
        ...(await options.facts()),
      };
      return { name, kind, ok: true, cwd, home, facts };
    } catch (error) {
      const fix = ToolError.isInstance(error) ? error.hint : undefined;
      return { name, kind, ok: false, reason: reasonOf(error), fix, facts: {} };
    }
  }

  async function endEverything(): Promise<void> {
    for (const stop of commands.keys()) stop.abort();
    await Promise.allSettled([...commands.values(), ...starting]);
    await Promise.allSettled([...processes].map((process) => process.end()));
    if (options.closeEndsAll !== true) await connection.endAll().catch(() => {});
  }

  async function shutDown(): Promise<void> {
    await within(endEverything(), CLOSING_LIMIT_MS);
    connection.close();
    await within(options.close(), LETTING_GO_LIMIT_MS);
  }

  const files = createRemoteFiles(connection, spawn);
  return {
    name,
    kind,
    files,
    exec,
    spawn,
    connect,
    describe,
    fetch: options.fetch ?? ((transfer) => fetchFromThere(transfer, { connection, files })),
    push: options.push ?? ((transfer) => pushToThere(transfer, { connection, files })),
    snapshot: options.snapshot,
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

/** The same, connected; closes what was opened when that fails. */
export async function openRemoteEnvironment(options: RemoteEnvironmentOptions): Promise<RemoteEnvironment> {
  const environment = createRemoteEnvironment(options);
  try {
    await environment.connect();
    return environment;
  } catch (error) {
    await options.close().catch(() => {});
    throw error;
  }
}
