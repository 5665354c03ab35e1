import { mkdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { LoadedConfig } from "../config/types.js";
import { failure, HermesError } from "../tool/errors.js";

/** Keys that `containerSettings` and `cacheVariables` read. */
export const CONTAINER_SETTINGS = [
  "terminal.container_cpu",
  "terminal.container_memory",
  "terminal.container_network",
  "terminal.container_mounts",
  "terminal.container_persistent",
  "terminal.container_cache",
  "terminal.cwd",
] as const;

/** What environments with containers of this machine have in common. */
export async function containerSettings(config: LoadedConfig) {
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
    cwd: startFolder(config),
  };
}

/** Where package managers keep what they fetched: one folder for all containers. */
const CACHE_FOLDER = "/var/cache/hermes";

export function cacheVariables(config: LoadedConfig): Readonly<Record<string, string>> {
  if (!config.values.terminal.container_cache) return {};
  return {
    npm_config_cache: `${CACHE_FOLDER}/npm`,
    YARN_CACHE_FOLDER: `${CACHE_FOLDER}/yarn`,
    PIP_CACHE_DIR: `${CACHE_FOLDER}/pip`,
    UV_CACHE_DIR: `${CACHE_FOLDER}/uv`,
  };
}

/** Keys that `cloudSettings` reads. */
export const CLOUD_SETTINGS = [
  "terminal.container_cpu",
  "terminal.container_memory",
  "terminal.container_persistent",
  "terminal.cwd",
  "terminal.lifetime_seconds",
  "terminal.env_passthrough",
] as const;

/** What sandboxes of services have in common. */
export function cloudSettings(config: LoadedConfig) {
  const { terminal } = config.values;
  return {
    cwd: startFolder(config),
    persistent: terminal.container_persistent,
    cpu: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    idleStopSeconds: terminal.lifetime_seconds > 0 ? terminal.lifetime_seconds : undefined,
    passthrough: passedOn(config),
  };
}

export function startFolder(config: LoadedConfig): string | undefined {
  return config.values.terminal.cwd || undefined;
}

/** The variables named in `terminal.env_passthrough`, with their values. */
export function passedOn({ env, values }: LoadedConfig): Readonly<Record<string, string>> {
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
