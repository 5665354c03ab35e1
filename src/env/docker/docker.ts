import { delegateEnvironment } from "../../call/delegate-environment.js";
import type { Environment } from "../environment.js";
import { createRemoteEnvironment } from "../remote/remote-environment.js";
import { Container, noShell } from "./container.js";
import { createExecTransport } from "./exec-transport.js";
import { type Engine, findEngine } from "./find-engine.js";
import type { DockerOptions } from "./options.js";

export type { DockerMount, DockerOptions, EngineChoice } from "./options.js";
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
