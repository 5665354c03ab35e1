import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { LoadedConfig } from "../config/types.js";
import { failure, HermesError, ToolError } from "../tool/errors.js";
import type { Environment } from "./environment.js";
import type { EnvironmentsOfPlugins } from "./plugin-environment.js";

export interface OpenRequest {
  readonly name: string;
  /** Containers and cloud sandboxes are kept apart by it. */
  readonly task: string;
  readonly config: LoadedConfig;
  /** Long steps, such as pulling an image. */
  onProgress?(message: string): void;
  /** Asked for names that no built-in environment has. */
  readonly plugins?: EnvironmentsOfPlugins | undefined;
}

type Opener = (request: OpenRequest) => Promise<Environment>;

/** Each backend is imported when somebody wants it. */
const OPENERS: Readonly<Record<string, Opener>> = {
  local: openLocal,
  docker: openDocker,
  ssh: openSsh,
  singularity: openSingularity,
  modal: openModal,
  daytona: openDaytona,
};

/** An environment as the configuration describes it. */
export async function openEnvironment(request: OpenRequest): Promise<Environment> {
  const open = Object.hasOwn(OPENERS, request.name) ? OPENERS[request.name] : openerOfPlugin(request);
  if (open === undefined) {
    const known = [...Object.keys(OPENERS), ...(request.plugins?.environmentNames() ?? [])];
    throw new HermesError(
      failure(
        "not_found",
        `There is no environment called ${JSON.stringify(request.name)}`,
        `Environments: ${known.join(", ")}.`,
      ),
    );
  }
  try {
    return await open(request);
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    throw new HermesError(failure(error.code, error.message, error.hint));
  }
}

function openerOfPlugin({ name, plugins }: OpenRequest): Opener | undefined {
  const factory = plugins?.environment(name);
  if (factory === undefined) return undefined;
  return async (request) => {
    const { openPluginEnvironment } = await import("./plugin-environment.js");
    return openPluginEnvironment({
      request,
      factory,
      builtin: (other) => openEnvironment({ ...request, name: other, plugins: undefined }),
    });
  };
}

async function openLocal({ config }: OpenRequest): Promise<Environment> {
  const { env, values, paths } = config;
  const { createLocalEnvironment } = await import("./local/local.js");
  return createLocalEnvironment({
    env,
    passthrough: values.terminal.env_passthrough,
    sandbox: {
      mode: values.terminal.sandbox,
      network: values.terminal.sandbox_network,
      writable: values.terminal.sandbox_writable,
      hidden: [paths.home],
      visible: [join(paths.cache, "spillover")],
    },
  });
}

async function openDocker(request: OpenRequest): Promise<Environment> {
  const { config, task } = request;
  const { terminal } = config.values;
  const { createDockerEnvironment } = await import("./docker/docker.js");
  return createDockerEnvironment({
    ...(await containerSettings(config)),
    engine: terminal.docker_engine,
    env: { ...config.env, ...cacheVariables(config) },
    passthrough: [...terminal.env_passthrough, ...Object.keys(cacheVariables(config))],
    image: terminal.docker_image,
    task,
    profile: config.values.permissions.profile,
    home: config.paths.home,
    diskMb: terminal.container_disk,
    ...(terminal.docker_runtime !== "" && { runtime: terminal.docker_runtime }),
    runAsHostUser: terminal.docker_run_as_host_user,
    lifetimeSeconds: terminal.lifetime_seconds,
    onProgress: (message) => request.onProgress?.(message),
  });
}

async function openSsh({ config }: OpenRequest): Promise<Environment> {
  const { terminal } = config.values;
  if (terminal.ssh_host === "") {
    throw new HermesError(
      failure(
        "unavailable",
        "No host is set for the ssh environment",
        "hermes config set terminal.ssh_host HOST",
      ),
    );
  }
  const { createSshEnvironment } = await import("./ssh/ssh.js");
  return createSshEnvironment({
    host: terminal.ssh_host,
    ...(terminal.ssh_user !== "" && { user: terminal.ssh_user }),
    ...(terminal.ssh_port !== 0 && { port: terminal.ssh_port }),
    ...(terminal.ssh_key !== "" && {
      keyFile: terminal.ssh_key.replace(/^~(?=\/|$)/, config.env.HOME ?? "~"),
    }),
    ...startFolder(config),
    controlDir: join(tmpdir(), `hermes-ssh-${process.getuid?.() ?? 0}`),
    hostKeyPolicy: terminal.ssh_host_keys,
    loginShell: terminal.login_shell !== "off",
    passthrough: passedOn(config),
    env: config.env,
  });
}

async function openSingularity(request: OpenRequest): Promise<Environment> {
  const { config, task } = request;
  const [{ createSingularityEnvironment }, { Starter }] = await Promise.all([
    import("./singularity/singularity.js"),
    import("./local/starter.js"),
  ]);
  const runtimeMark = randomUUID();
  const starter = new Starter({ mark: runtimeMark, path: config.env.PATH, launcher: true });
  return createSingularityEnvironment({
    ...(await containerSettings(config)),
    image: config.values.terminal.singularity_image,
    task,
    home: config.paths.home,
    env: config.env,
    passthrough: { ...passedOn(config), ...cacheVariables(config) },
    cacheDir: join(config.paths.cache, "images"),
    runtimeMark,
    starter,
    onProgress: (message) => request.onProgress?.(message),
  });
}

async function openModal({ config, task }: OpenRequest): Promise<Environment> {
  const { terminal } = config.values;
  const { env } = config;
  const { createModalEnvironment } = await import("./modal/modal.js");
  return createModalEnvironment({
    task,
    stateDir: config.paths.home,
    image: terminal.modal_image,
    ...startFolder(config),
    persistent: terminal.container_persistent,
    cpu: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    ...(terminal.lifetime_seconds > 0 && { idleStopSeconds: terminal.lifetime_seconds }),
    ...(env.MODAL_TOKEN_ID !== undefined && { tokenId: env.MODAL_TOKEN_ID }),
    ...(env.MODAL_TOKEN_SECRET !== undefined && { tokenSecret: env.MODAL_TOKEN_SECRET }),
    ...(env.MODAL_SERVER_URL !== undefined && { serverUrl: env.MODAL_SERVER_URL }),
    passthrough: passedOn(config),
  });
}

async function openDaytona({ config, task }: OpenRequest): Promise<Environment> {
  const { terminal } = config.values;
  const { env } = config;
  const { createDaytonaEnvironment } = await import("./daytona/daytona.js");
  return createDaytonaEnvironment({
    task,
    image: terminal.daytona_image,
    ...startFolder(config),
    persistent: terminal.container_persistent,
    cpu: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    diskMb: terminal.container_disk,
    ...(terminal.lifetime_seconds > 0 && { idleStopSeconds: terminal.lifetime_seconds }),
    ...(env.DAYTONA_API_KEY !== undefined && { apiKey: env.DAYTONA_API_KEY }),
    ...(env.DAYTONA_API_URL !== undefined && { apiUrl: env.DAYTONA_API_URL }),
    ...(env.DAYTONA_TARGET !== undefined && { target: env.DAYTONA_TARGET }),
    passthrough: passedOn(config),
  });
}

/** What docker and singularity have in common. */
async function containerSettings(config: LoadedConfig) {
  const { terminal } = config.values;
  const cache = { source: join(config.paths.cache, "packages"), target: CACHE_FOLDER };
  if (terminal.container_cache) await mkdir(cache.source, { recursive: true, mode: 0o700 });
  return {
    cpu: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    network: terminal.container_network,
    mounts: [...terminal.container_mounts.map(mountOf), ...(terminal.container_cache ? [cache] : [])],
    persistent: terminal.container_persistent,
    sandboxDir: join(config.paths.home, "sandboxes"),
    ...startFolder(config),
  };
}

/** Where package managers keep what they fetched: one folder for all containers. */
const CACHE_FOLDER = "/var/cache/hermes";

function cacheVariables(config: LoadedConfig): Readonly<Record<string, string>> {
  if (!config.values.terminal.container_cache) return {};
  return {
    npm_config_cache: `${CACHE_FOLDER}/npm`,
    YARN_CACHE_FOLDER: `${CACHE_FOLDER}/yarn`,
    PIP_CACHE_DIR: `${CACHE_FOLDER}/pip`,
    UV_CACHE_DIR: `${CACHE_FOLDER}/uv`,
  };
}

function startFolder(config: LoadedConfig): { readonly cwd?: string } {
  const { cwd } = config.values.terminal;
  return cwd === "" ? {} : { cwd };
}

function passedOn({ env, values }: LoadedConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(
    values.terminal.env_passthrough.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** `/here:/there` or `/here:/there:ro`. */
function mountOf(text: string): {
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
} {
  const [source = "", target = "", mode = ""] = text.split(":");
  if (isAbsolute(source) && isAbsolute(target) && /^(?:ro|rw)?$/.test(mode)) {
    return { source, target, readonly: mode === "ro" };
  }
  throw new HermesError(
    failure(
      "bad_request",
      `terminal.container_mounts holds ${JSON.stringify(text)}, which is not a mount`,
      "Write /folder/here:/folder/there, with :ro at the end for read-only.",
    ),
  );
}
