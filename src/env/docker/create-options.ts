import { posix } from "node:path";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import type { DockerMount, DockerOptions } from "./docker.js";
import { type EngineApi, EngineError } from "./engine-api.js";

/** What an engine says about itself, as far as it decides how containers are made. */
export interface EngineFacts {
  readonly kind: "docker" | "podman";
  readonly version: string;
  /** The engine runs as an ordinary user: root in a container is that user outside. */
  readonly rootless: boolean;
  readonly cpus: number;
  readonly limitsMemory: boolean;
  readonly limitsCpu: boolean;
  readonly limitsPids: boolean;
  readonly runtimes: readonly string[];
  readonly driver: string;
}

/** Folders of this machine that outlive the container. */
export interface KeptFolders {
  readonly home: string;
  readonly workspace: string;
}

export interface CreateRequest {
  readonly options: DockerOptions;
  readonly facts: EngineFacts;
  readonly imageId: string;
  readonly kept: KeptFolders | undefined;
  /** User and group of the person who runs Hermes, where `runAsHostUser` asks for them. */
  readonly hostUser: { readonly uid: number; readonly gid: number } | undefined;
}

export interface CreatePlan {
  /** For `POST /containers/create`, still without labels. */
  readonly body: ContainerBody;
  /** Same hash, same container: what decides whether one that is left over can be used again. */
  readonly configHash: string;
  readonly home: string;
  readonly cwd: string;
  /** Limits that this engine cannot set. */
  readonly notes: readonly string[];
}

export interface ContainerBody {
  readonly Image: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly User?: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly StopTimeout: number;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels?: Readonly<Record<string, string>>;
  readonly HostConfig: HostConfig;
}

export interface HostConfig {
  readonly CapDrop: readonly string[];
  readonly CapAdd: readonly string[];
  readonly SecurityOpt: readonly string[];
  readonly PidsLimit?: number;
  readonly Tmpfs: Readonly<Record<string, string>>;
  readonly Init?: boolean | undefined;
  readonly ShmSize: number;
  readonly StorageOpt?: { readonly size: string } | undefined;
  readonly NanoCpus?: number;
  readonly Memory?: number;
  readonly MemorySwap?: number;
  readonly NetworkMode?: string;
  readonly Runtime?: string;
  readonly Mounts: readonly EngineMount[];
}

interface EngineMount {
  readonly Type: "bind";
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
}

const MIB = 1024 * 1024;
const ROOT_HOME = "/root";
const USER_HOME = "/home/hermes";
const WORKSPACE = "/workspace";
/** Does nothing for ever, ends at once when asked to, and works with the smallest shell. */
const KEEP_ALIVE = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done";
/** Mounting over these would take the container's own system away, or hand it the engine's. */
const SYSTEM_TARGETS = /^\/(?:$|(?:proc|sys|dev|bin|sbin|lib|lib64|usr|etc|run|tmp)$|(?:proc|sys|dev)\/)/;

export function planContainer(request: CreateRequest): CreatePlan {
  const { options, facts, kept } = request;
  const user = request.hostUser;
  const home = user === undefined ? ROOT_HOME : USER_HOME;
  const cwd = startFolder(options.cwd, home);
  const mounts = [...keptMounts(kept, home), ...(options.mounts ?? []).map(checkedMount)];
  refuseTwice(mounts);
  const { limits, notes } = limitsFor(options, facts);
  const body: ContainerBody = {
    Image: options.image,
    Entrypoint: ["sh", "-c", KEEP_ALIVE],
    Cmd: [],
    ...(user === undefined ? {} : { User: `${user.uid}:${user.gid}` }),
    WorkingDir: cwd,
    // Never more than this: whatever stands here can be read with `docker inspect`.
    Env: [`HOME=${home}`],
    // An engine that shuts down waits this long for each container.
    StopTimeout: 2,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      CapDrop: ["ALL"],
      CapAdd: capabilities(user !== undefined, facts),
      SecurityOpt: ["no-new-privileges"],
      Tmpfs: temporaryFolders(user !== undefined && kept === undefined ? home : undefined),
      Init: true,
      ShmSize: 1024 * MIB,
      ...limits,
      ...(options.network === false ? { NetworkMode: "none" } : {}),
      ...(options.runtime === undefined ? {} : { Runtime: checkedRuntime(options.runtime, facts) }),
      Mounts: mounts,
    },
  };
  return { body, configHash: hashOf({ body, image: request.imageId }), home, cwd, notes };
}

function capabilities(asUser: boolean, facts: EngineFacts): readonly string[] {
  // Docker gives an ordinary user none of them. Podman would: as an ambient right to read everybody's files.
  if (asUser && facts.kind === "podman") return [];
  const files = ["DAC_OVERRIDE", "CHOWN", "FOWNER"];
  return asUser ? files : [...files, "SETUID", "SETGID"];
}

function temporaryFolders(userHome: string | undefined): Readonly<Record<string, string>> {
  return {
    "/tmp": "rw,exec,nosuid,nodev,size=512m,mode=1777",
    "/var/tmp": "rw,noexec,nosuid,nodev,size=256m,mode=1777",
    "/run": "rw,noexec,nosuid,nodev,size=64m,mode=755",
    // The image knows nothing of this user, so nothing in it is theirs to write.
    ...(userHome === undefined ? {} : { [userHome]: "rw,exec,nosuid,nodev,size=1g,mode=1777" }),
  };
}

function limitsFor(
  options: DockerOptions,
  facts: EngineFacts,
): { readonly limits: Partial<HostConfig>; readonly notes: readonly string[] } {
  const { cpu = 1, memoryMb = 5_120, diskMb = 51_200, pidsLimit = 256 } = options;
  for (const [name, value] of Object.entries({ cpu, memoryMb, diskMb, pidsLimit }))
    if (!(Number.isFinite(value) && value > 0)) throw wrong(`${name} must be a number above 0, not ${value}`);
  const notes: string[] = [];
  const unless = (can: boolean, what: string) => {
    if (!can) notes.push(`${what} is not limited: this ${facts.kind} cannot do it`);
    return can;
  };
  const memory = Math.round(memoryMb * MIB);
  const cpus = Math.min(cpu, facts.cpus);
  if (cpus < cpu) notes.push(`cpu ${cpu} was lowered to ${cpus}: the engine has no more`);
  const limits = {
    ...(unless(facts.limitsPids, "the number of processes") ? { PidsLimit: Math.round(pidsLimit) } : {}),
    ...(unless(facts.limitsCpu, "cpu") ? { NanoCpus: Math.round(cpus * 1e9) } : {}),
    // The same number for both: memory that may be swapped out would be memory on top.
    ...(unless(facts.limitsMemory, "memory") ? { Memory: memory, MemorySwap: memory } : {}),
    StorageOpt: { size: `${Math.round(diskMb)}M` },
  };
  return { limits, notes };
}

function keptMounts(kept: KeptFolders | undefined, home: string): readonly EngineMount[] {
  if (kept === undefined) return [];
  return [
    { Type: "bind", Source: kept.home, Target: home, ReadOnly: false },
    { Type: "bind", Source: kept.workspace, Target: WORKSPACE, ReadOnly: false },
  ];
}

function checkedMount(mount: DockerMount): EngineMount {
  const { source, target, readonly = false } = mount;
  if (!posix.isAbsolute(source)) throw wrong(`the mount's source ${quote(source)} must be an absolute path`);
  const clean = posix.normalize(target).replace(/(?<=.)\/$/, "");
  if (!posix.isAbsolute(target)) throw wrong(`the mount's target ${quote(target)} must be an absolute path`);
  if (SYSTEM_TARGETS.test(clean)) throw wrong(`nothing can be mounted at ${quote(target)}`);
  return { Type: "bind", Source: source, Target: clean, ReadOnly: readonly };
}

function refuseTwice(mounts: readonly EngineMount[]): void {
  const seen = new Set<string>();
  for (const { Target } of mounts) {
    if (seen.has(Target)) throw wrong(`two mounts have the target ${quote(Target)}`);
    seen.add(Target);
  }
}

function checkedRuntime(runtime: string, facts: EngineFacts): string {
  if (facts.kind === "podman") {
    throw wrong("Podman takes its runtime when it starts, not for one container", {
      hint: `Set \`runtime = "${runtime}"\` in containers.conf, or use Docker.`,
    });
  }
  if (facts.runtimes.includes(runtime)) return runtime;
  throw wrong(`the engine has no runtime ${quote(runtime)}, only ${facts.runtimes.join(", ")}`, {
    hint: "Install it and name it under `runtimes` in the engine's daemon.json.",
  });
}

function startFolder(cwd: string | undefined, home: string): string {
  // Folders of this machine and relative ones mean nothing in there.
  return cwd === undefined || cwd === "~" || !posix.isAbsolute(cwd) ? home : posix.normalize(cwd);
}

function hashOf(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, 16);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function wrong(why: string, options: { readonly hint?: string } = {}): ToolError {
  return new ToolError(`The container cannot be made: ${why}.`, {
    code: "unavailable",
    hint: options.hint ?? "Correct it in the configuration of the docker environment.",
  });
}

/** Leaves out, one by one, what this engine turns out not to be able to do, and says so. */
export async function createContainer(
  api: EngineApi,
  request: { readonly name: string; readonly body: ContainerBody },
): Promise<{ readonly id: string; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  for (let body = request.body; ; ) {
    try {
      const { Id } = await api.json<{ readonly Id: string }>({
        method: "POST",
        path: "/containers/create",
        query: { name: request.name },
        body,
      });
      return { id: Id, notes };
    } catch (error) {
      const lesser = withoutWhatFailed(body, error);
      if (lesser === undefined) throw error;
      body = lesser.body;
      notes.push(lesser.note);
    }
  }
}

function withoutWhatFailed(
  body: ContainerBody,
  error: unknown,
): { readonly body: ContainerBody; readonly note: string } | undefined {
  if (!(error instanceof EngineError) || error.status === undefined) return undefined;
  const { StorageOpt, Init, ...host } = body.HostConfig;
  if (StorageOpt !== undefined && /storage.?opt|quotas/i.test(error.message)) {
    return {
      body: { ...body, HostConfig: { ...host, Init } },
      note: "disk is not limited: the engine's storage cannot do it",
    };
  }
  if (Init === true && /container-init|docker-init/i.test(error.message)) {
    return {
      body: { ...body, HostConfig: { ...host, StorageOpt } },
      note: "no init program: the engine has none installed",
    };
  }
  return undefined;
}
