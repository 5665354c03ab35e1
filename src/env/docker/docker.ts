import { delegateEnvironment } from "../../call/delegate-environment.js";
import type { Environment } from "../environment.js";
import { createRemoteEnvironment } from "../remote/remote-environment.js";
import { Container, noShell } from "./container.js";
import { createExecTransport } from "./exec-transport.js";
import { type Engine, findEngine } from "./find-engine.js";

export interface DockerOptions {
  /** Shown in results; "docker" by default. */
  readonly name?: string | undefined;
  /** Which engine to look for; "auto" takes Docker before Podman. */
  readonly engine?: EngineChoice | undefined;
  /** Address of the engine (`unix:///path`, `tcp://127.0.0.1:port`); wins over DOCKER_HOST and CONTAINER_HOST. */
  readonly host?: string | undefined;
  /** The environment that addresses and passed-on variables come from; the runtime's own by default. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Names of variables that commands get with their present values. */
  readonly passthrough?: readonly string[] | undefined;
  readonly image: string;
  /** Whose container it is: a container left by a crash is used again only by the same task of the same home. */
  readonly task: string;
  readonly profile?: string | undefined;
  /** The Hermes home folder; only its hash leaves this machine. */
  readonly home: string;
  readonly cpu?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly diskMb?: number | undefined;
  readonly pidsLimit?: number | undefined;
  readonly network?: boolean | undefined;
  /** Another runtime for the container, e.g. "runsc" (gVisor). */
  readonly runtime?: string | undefined;
  /** Files that the container writes into mounted folders then belong to the person who runs Hermes. */
  readonly runAsHostUser?: boolean | undefined;
  readonly mounts?: readonly DockerMount[] | undefined;
  /** Keep the home folder and /workspace below `sandboxDir`. */
  readonly persistent?: boolean | undefined;
  readonly sandboxDir?: string | undefined;
  /** Where commands start; the home folder by default. */
  readonly cwd?: string | undefined;
  /** How long an unused container may stay; one that lost its owner is removed after twice that time. */
  readonly lifetimeSeconds?: number | undefined;
  /** What takes long: pulling an image. */
  onProgress?(text: string): void;
}

export type EngineChoice = "auto" | "docker" | "podman";

export interface DockerMount {
  readonly source: string;
  readonly target: string;
  readonly readonly?: boolean;
}

export { type ReapedContainer, reapContainers } from "./reaper.js";

/** A container of Docker or Podman. It is made, or found again after a crash, before this resolves. */
export async function createDockerEnvironment(options: DockerOptions): Promise<Environment> {
  const engine = await findEngine(options);
  const container = new Container(engine, options);
  const close = async () => {
    try {
      await container.close();
    } finally {
      await engine.close();
    }
  };
  try {
    const { cwd } = await container.plan();
    const remote = createRemoteEnvironment({
      name: options.name ?? "docker",
      kind: "docker",
      transport: createExecTransport(engine, container),
      defaultCwd: cwd,
      loginShell: false,
      endWithRuntime: true,
      closeEndsAll: true,
      passthrough: passedOn(options),
      close,
      facts: () => facts({ engine, container, options }),
    });
    await remote.connect();
    return delegateEnvironment(remote, {
      // All programs in it end, /tmp and /run are emptied, other files stay.
      suspend: () => container.stop(),
      close() {
        container.leave();
        return remote.close();
      },
    });
  } catch (error) {
    const lacksShell = await container.lacksShell().catch(() => false);
    await close().catch(() => {});
    throw lacksShell ? noShell(options.image) : error;
  }
}

function passedOn({ passthrough = [], env = process.env }: DockerOptions): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of passthrough) {
    const value = env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

async function facts(parts: {
  readonly engine: Engine;
  readonly container: Container;
  readonly options: DockerOptions;
}): Promise<Readonly<Record<string, string>>> {
  const { engine, container, options } = parts;
  const { kind, version, driver } = engine.facts;
  return {
    engine: `${kind} ${version} at ${engine.address}`,
    image: options.image,
    container: container.id?.slice(0, 12) ?? "none",
    network: options.network === false ? "none" : "on",
    runtime: options.runtime ?? "the engine's own",
    storage: driver,
    files: options.persistent === true ? "home and /workspace are kept" : "nothing is kept",
    ...(container.notes.length === 0 ? {} : { limits: container.notes.join("; ") }),
  };
}
