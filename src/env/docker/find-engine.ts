import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import { findProgram } from "../find-program.js";
import type { EngineFacts } from "./create-options.js";
import type { DockerOptions, EngineChoice } from "./docker.js";
import { type EngineAddress, EngineApi, engineFailure } from "./engine-api.js";

export interface Engine {
  readonly api: EngineApi;
  readonly facts: EngineFacts;
  /** As a person would write it. */
  readonly address: string;
  /** Brings back a service that belongs to this environment and has ended. */
  wake(): Promise<void>;
  close(): Promise<void>;
}

type Search = Pick<DockerOptions, "engine" | "host" | "env">;

/**
 * The engine that was named, else the first that answers. One that was named and does not answer is an error:
 * commands must not land somewhere else.
 */
export async function findEngine(search: Search): Promise<Engine> {
  const { engine = "auto", env = process.env } = search;
  const named = namedAddress(search.host, engine, env);
  if (named !== undefined) return connect(named.text, named.from);
  const tried: string[] = [];
  for (const path of usualSockets(engine, env)) {
    const why = await notUsable(path, engine);
    if (why === undefined) return connect(`unix://${path}`, path);
    tried.push(`${path}: ${why}`);
  }
  if (engine !== "docker") {
    if (findProgram("podman", env) !== undefined) return servePodman(env);
    tried.push("podman: not installed");
  }
  throw noEngine(engine, tried);
}

/** Whether there is anything to try, without connecting. */
export async function engineInSight(search: Search): Promise<boolean> {
  const { engine = "auto", env = process.env } = search;
  if (namedAddress(search.host, engine, env) !== undefined) return true;
  if (usualSockets(engine, env).some((path) => existsSync(path))) return true;
  return engine !== "docker" && findProgram("podman", env) !== undefined;
}

function namedAddress(
  host: string | undefined,
  engine: EngineChoice,
  env: NodeJS.ProcessEnv,
): { readonly text: string; readonly from: string } | undefined {
  if (host !== undefined && host !== "") return { text: host, from: "the configured address" };
  const docker = engine === "podman" ? undefined : env.DOCKER_HOST;
  if (docker) return { text: docker, from: "DOCKER_HOST" };
  const podman = engine === "docker" ? undefined : env.CONTAINER_HOST;
  if (podman) return { text: podman, from: "CONTAINER_HOST" };
  return undefined;
}

function usualSockets(engine: EngineChoice, env: NodeJS.ProcessEnv): readonly string[] {
  const home = env.HOME || homedir();
  const runtime = env.XDG_RUNTIME_DIR;
  const own = (name: string) => (runtime ? [join(runtime, name)] : []);
  const docker = ["/var/run/docker.sock", ...own("docker.sock"), join(home, ".docker/run/docker.sock")];
  const podman = [...own("podman/podman.sock"), "/run/podman/podman.sock"];
  if (engine === "auto") return [...docker, ...podman];
  return engine === "docker" ? docker : podman;
}

async function notUsable(path: string, engine: EngineChoice): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const code = errnoOf(error);
    return code === "EACCES" ? "no permission (is this user in the group `docker`?)" : "not there";
  }
  const api = new EngineApi({ socketPath: path });
  try {
    const { podman } = await api.ping(3_000);
    // Podman may stand in at Docker's place.
    return engine === "docker" && podman ? "Podman listens there, not Docker" : undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    api.close();
  }
}

async function connect(text: string, from: string): Promise<Engine> {
  const api = new EngineApi(parseAddress(text, from));
  try {
    const facts = await askFacts(api);
    return { api, facts, address: text, wake: async () => {}, close: async () => api.close() };
  } catch (error) {
    api.close();
    throw engineFailure(`The container engine at ${text} (${from}) cannot be used`, error);
  }
}

async function servePodman(env: NodeJS.ProcessEnv): Promise<Engine> {
  const { PodmanService } = await import("./podman-service.js");
  const service = await PodmanService.start(env);
  const api = new EngineApi(service.address);
  const close = async () => {
    api.close();
    await service.close();
  };
  try {
    const facts = await askFacts(api);
    return { api, facts, address: "podman (own service)", wake: () => service.ensure(), close };
  } catch (error) {
    await close();
    throw engineFailure("Podman's service cannot be used", error);
  }
}

/** Only ways to an engine whose files are this machine's, and that nobody can listen to on the way. */
export function parseAddress(text: string, from: string): EngineAddress {
  const refusal = (why: string, hint: string) =>
    new ToolError(`The engine address ${JSON.stringify(text)} (${from}) cannot be used: ${why}.`, {
      code: "unavailable",
      hint,
    });
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.*)$/.exec(text) ?? [];
  if (scheme === "unix" && rest.startsWith("/")) return { socketPath: rest };
  if (scheme === "tcp" || scheme === "http") {
    const [, host = "", port = "2375"] = /^(\[::1\]|[^:/]+)(?::(\d+))?\/?$/.exec(rest) ?? [];
    if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host))
      return { host: host.replace(/[[\]]/g, ""), port: Number(port) };
    throw refusal(
      "only an engine on this machine is spoken to without encryption",
      "Use the ssh environment.",
    );
  }
  if (scheme === "ssh")
    throw refusal("an engine behind ssh is not supported", "Use the ssh environment, and docker over there.");
  throw refusal("it is not an address of a kind known here", "Write unix:///path/to/the.sock.");
}

interface InfoAnswer {
  readonly ServerVersion?: string;
  readonly SecurityOptions?: readonly string[];
  readonly NCPU?: number;
  readonly MemoryLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly Runtimes?: Readonly<Record<string, unknown>>;
  readonly Driver?: string;
}

async function askFacts(api: EngineApi): Promise<EngineFacts> {
  const { podman } = await api.ping();
  const info = await api.json<InfoAnswer>({ path: "/info", timeoutMs: 15_000 });
  return {
    kind: podman ? "podman" : "docker",
    version: info.ServerVersion ?? "unknown",
    rootless: (info.SecurityOptions ?? []).some((option) => option.includes("rootless")),
    cpus: info.NCPU ?? 1,
    limitsMemory: info.MemoryLimit ?? true,
    limitsCpu: info.CpuCfsQuota ?? true,
    limitsPids: info.PidsLimit ?? true,
    runtimes: Object.keys(info.Runtimes ?? {}),
    driver: info.Driver ?? "unknown",
  };
}

function noEngine(engine: EngineChoice, tried: readonly string[]): ToolError {
  const what = engine === "auto" ? "No container engine" : `No ${engine === "docker" ? "Docker" : "Podman"}`;
  return new ToolError(`${what} was found. Tried: ${tried.join("; ")}.`, {
    code: "unavailable",
    hint: "Install and start Docker or Podman, or name its socket with DOCKER_HOST=unix:///path.",
  });
}
