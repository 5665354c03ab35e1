import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { LoadedConfig } from "../config/types.js";
import type { BuiltinEnvironment } from "./environment.js";
import { findProgram } from "./find-program.js";

/** Whether an environment could be used, as far as that can be told without connecting to anything. */
export interface EnvironmentStatus {
  readonly name: string;
  readonly about: string;
  readonly ready: boolean;
  readonly reason?: string;
  readonly fix?: string;
}

type Problem = { readonly reason: string; readonly fix: string } | undefined;

interface Kind {
  readonly about: string;
  check(config: LoadedConfig): Problem | Promise<Problem>;
}

const KINDS: Readonly<Record<BuiltinEnvironment, Kind>> = {
  local: {
    about: "this machine",
    check: ({ env }) => program("bash", env, "install bash and put it on PATH"),
  },
  docker: { about: "a container of Docker or Podman", check: checkDocker },
  ssh: { about: "another machine", check: checkSsh },
  singularity: { about: "a container of Apptainer or Singularity", check: checkSingularity },
  modal: { about: "a sandbox at modal.com", check: checkModal },
  daytona: { about: "a sandbox at daytona.io or your own Daytona", check: checkDaytona },
};

export const ENVIRONMENT_NAMES = Object.keys(KINDS) as readonly BuiltinEnvironment[];

export function isBuiltinEnvironment(name: string): name is BuiltinEnvironment {
  return Object.hasOwn(KINDS, name);
}

/** What is known of environments that plugins bring. */
export interface PluginEnvironments {
  environmentNames(): readonly string[];
}

export async function environmentStatus(
  name: string,
  config: LoadedConfig,
  plugins?: PluginEnvironments,
): Promise<EnvironmentStatus> {
  if (!isBuiltinEnvironment(name)) return statusOfOther(name, plugins);
  const { about, check } = KINDS[name];
  const problem = await check(config);
  return { name, about, ready: problem === undefined, ...problem };
}

function statusOfOther(name: string, plugins: PluginEnvironments | undefined): EnvironmentStatus {
  const others = plugins?.environmentNames() ?? [];
  const about = "an environment of a plugin";
  if (others.includes(name)) return { name, about, ready: true };
  const known = [...ENVIRONMENT_NAMES, ...others].join(", ");
  return {
    name,
    about,
    ready: false,
    reason: "nothing of that name is there",
    fix: `choose one of ${known}`,
  };
}

function program(name: string, env: LoadedConfig["env"], fix: string): Problem {
  return findProgram(name, env) === undefined ? { reason: `${name} is not on PATH`, fix } : undefined;
}

async function checkDocker({ env, values }: LoadedConfig): Promise<Problem> {
  const { engineInSight } = await import("./docker/find-engine.js");
  return (await engineInSight({ engine: values.terminal.docker_engine, env }))
    ? undefined
    : {
        reason: "no container engine was found",
        fix: "start Docker, or install podman",
      };
}

function checkSsh({ env, values }: LoadedConfig): Problem {
  if (values.terminal.ssh_host === "") {
    return { reason: "no host is set", fix: "hermes config set terminal.ssh_host HOST" };
  }
  return program("ssh", env, "install the OpenSSH client");
}

function checkSingularity({ env, values }: LoadedConfig): Problem {
  if (values.terminal.singularity_image === "") {
    return { reason: "no image is set", fix: "hermes config set terminal.singularity_image FILE.sif" };
  }
  if (findProgram("apptainer", env) ?? findProgram("singularity", env)) return undefined;
  return { reason: "neither apptainer nor singularity is on PATH", fix: "install apptainer" };
}

function checkModal({ env }: LoadedConfig): Problem {
  if (!installed("modal"))
    return { reason: "the npm package modal is not installed", fix: "npm install modal" };
  const written = existsSync(join(env.HOME ?? "/", ".modal.toml"));
  if (written || (env.MODAL_TOKEN_ID && env.MODAL_TOKEN_SECRET)) return undefined;
  return { reason: "there is no token", fix: "set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET" };
}

function checkDaytona({ env }: LoadedConfig): Problem {
  return env.DAYTONA_API_KEY ? undefined : { reason: "there is no key", fix: "set DAYTONA_API_KEY" };
}

function installed(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
