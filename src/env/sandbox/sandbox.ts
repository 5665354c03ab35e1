import { homedir, release } from "node:os";
import { errnoOf } from "../../base/errno.js";
import type { Confine } from "../environment.js";
import { bwrapArguments } from "./bwrap-arguments.js";
import {
  type ControlGroup,
  type ControlGroups,
  findControlGroups,
  type GroupLimits,
  type ReachedLimit,
} from "./control-groups.js";
import type { Mount } from "./mounts.js";
import { packageVariables } from "./package-caches.js";
import { holdPlace, type Placeholder, releasePlace } from "./placeholders.js";
import { lastingMounts, type Plan, planFor } from "./plan.js";
import { probeBwrap, type Unavailable, type WorkingBwrap } from "./probe.js";
import { realPath } from "./real-path.js";
import { FilterFile } from "./seccomp.js";
import {
  type ConfineRequest,
  DEFAULT_LIMITS,
  FILTER_DESCRIPTOR,
  type SandboxLimits,
  type SandboxOptions,
} from "./types.js";
import { putBack } from "./watched-names.js";

/** The sandbox of one command: made before it starts, taken down when its last process is gone. */
export interface Confinement {
  /** bubblewrap with its arguments; the command follows. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the command gets besides those, set once it is inside. */
  readonly innerEnv: Readonly<Record<string, string>>;
  readonly filter: number | undefined;
  readonly network: boolean;
  readonly limits: SandboxLimits;
  /** Whoever starts it writes `0` into each first. */
  readonly joinFiles: readonly string[];
  /** To be watched over all its processes, because the kernel counts each by itself here. */
  readonly watched: GroupLimits | undefined;
  /** What shuts it in, when that was asked for. */
  readonly confinedBy: string | undefined;
  release(): Promise<Released>;
}

export interface Released {
  /** Protected names that the command had changed and that were put back. */
  readonly changed: readonly string[];
  readonly reached: readonly ReachedLimit[];
}

export interface Sandbox {
  confine(request: ConfineRequest): Promise<Confinement>;
  close(): void;
}

const MAX_PLANS = 5;

/** A sandbox that works here, or why there is none. */
export async function createSandbox(
  options: SandboxOptions & { readonly home?: string },
): Promise<Sandbox | Unavailable> {
  const bwrap = await probeBwrap(options.program);
  if ("unavailable" in bwrap) return bwrap;
  const filter = new FilterFile();
  const lasting = lastingMounts();
  let groups: { readonly found: ControlGroups | undefined } | undefined;
  return {
    async confine(request) {
      if (request.confine !== undefined) groups ??= { found: findControlGroups() };
      for (let attempt = 1; ; attempt += 1) {
        const plan = await planFor(request, { ...options, lasting });
        try {
          return confinementOf({ plan, request, bwrap, options, filter, groups: groups?.found });
        } catch (error) {
          // Another command's stand-in for a folder went away since the plan was made.
          const vanished = errnoOf(error) === "ENOENT";
          if (!vanished || attempt === MAX_PLANS) throw error;
        }
      }
    },
    close: () => filter.close(),
  };
}

function confinementOf(parts: {
  readonly plan: Plan;
  readonly request: ConfineRequest;
  readonly bwrap: WorkingBwrap;
  readonly options: SandboxOptions & { readonly home?: string };
  readonly filter: FilterFile;
  readonly groups: ControlGroups | undefined;
}): Confinement {
  const { plan, request, bwrap } = parts;
  const { confine } = request;
  const limits = limitsFor({ options: parts.options, confine, counted: parts.groups !== undefined });
  const held: Placeholder[] = [];
  let group: ControlGroup | undefined;
  const letGo = () => Promise.all([...held.map(releasePlace), group?.remove()]);
  try {
    const unheld = new Map<string, Mount | undefined>();
    for (const path of plan.placeholders) {
      const place = holdPlace(path);
      if (place !== undefined) held.push(place);
      else unheld.set(path, standsThere(path));
    }
    const mounts = plan.mounts.flatMap((mount) => {
      const instead = unheld.has(mount.path) ? unheld.get(mount.path) : mount;
      return instead === undefined ? [] : [instead];
    });
    const together = confine === undefined ? undefined : groupLimits(confine);
    if (together !== undefined) group = parts.groups?.make(together);
    const home = parts.options.home ?? (request.env.HOME || homedir());
    const forPackages = packageVariables({ home, env: request.env, network: plan.network });
    const { ours, theirs } = splitEnvironment({ ...request.env, ...forPackages });
    const filter = parts.filter.open();
    return {
      argv: [
        bwrap.program,
        ...bwrapArguments({
          mounts,
          network: plan.network || request.inNetwork === true,
          cwd: plan.cwd,
          setEnv: theirs,
          filterDescriptor: filter === undefined ? undefined : FILTER_DESCRIPTOR,
          temporaryBytes: bwrap.sized ? limits.temporaryBytes : undefined,
        }),
      ],
      env: ours,
      innerEnv: theirs,
      filter,
      network: plan.network,
      limits,
      joinFiles: group?.joinFiles ?? [],
      watched: group === undefined ? together : undefined,
      confinedBy: confine === undefined ? undefined : "bubblewrap",
      async release() {
        const changed = putBack(plan.watched);
        const reached = group?.reached() ?? [];
        await letGo();
        return { changed, reached };
      },
    };
  } catch (error) {
    void letGo();
    throw error;
  }
}

/** Somebody made it meanwhile, or nobody can. */
function standsThere(path: string): Mount | undefined {
  return realPath(path) === path ? { kind: "read", path } : undefined;
}

/** Variables that make the loader run code would do so in bubblewrap, outside; they are set inside instead. */
const LOADER_VARIABLE = /^(?:LD_|GLIBC_|GCONV_|MALLOC_|LOCPATH$|NLSPATH$)/;
/** They name sockets and folders that are not there. */
const LEFT_OUT = new Set(["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"]);

function splitEnvironment(env: Readonly<Record<string, string>>) {
  const ours: Record<string, string> = {};
  const theirs: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (LEFT_OUT.has(name)) continue;
    if (LOADER_VARIABLE.test(name)) theirs[name] = value;
    else ours[name] = name === "TMPDIR" ? "/tmp" : value;
  }
  return { ours, theirs };
}

/** bubblewrap stands outside and inside of the sandbox and waits. */
const BUBBLEWRAP_PROCESSES = 2;
/** Descriptors of one process: enough for any script, and the machine's table stays far from full. */
const CONFINED_DESCRIPTORS = 4_096;

/** Set aside for the stack of each thread, and hardly ever used. */
const STACK_BYTES = 8 * 1024 ** 2;
const OTHER_RESERVES = 64 * 1024 ** 2;

/** What each process of a command may use by itself, where `counted` says that all together are counted as well. */
function limitsFor(request: {
  readonly options: SandboxOptions;
  readonly confine: Confine | undefined;
  readonly counted: boolean;
}): SandboxLimits {
  const { options, confine, counted } = request;
  const usual = { ...DEFAULT_LIMITS, ...options.limits };
  if (confine === undefined) return usual;
  return {
    ...usual,
    processes: countsPerSandbox() ? confine.processes + BUBBLEWRAP_PROCESSES : usual.processes,
    // It lies in memory, and a full disk is easier to understand than a program that was ended.
    temporaryBytes: Math.min(usual.temporaryBytes, Math.floor(confine.memoryBytes / 2)),
    dataBytes: counted ? Math.max(confine.memoryBytes, reservesOf(confine)) : confine.memoryBytes,
    descriptors: CONFINED_DESCRIPTORS,
    firstToGo: true,
  };
}

/** What is only set aside counts for a single process, but must not keep it from having all its threads. */
function reservesOf({ processes }: Confine): number {
  return processes * STACK_BYTES + OTHER_RESERVES;
}

/**
 * What all processes may use together: a little more memory than one may have, so that a language gets the
 * chance to say that it is over before the kernel ends it without a word.
 */
function groupLimits(confine: Confine): GroupLimits {
  return {
    memoryBytes: Math.ceil(confine.memoryBytes * 1.05),
    processes: confine.processes + BUBBLEWRAP_PROCESSES,
  };
}

/** Since Linux 5.14 the count begins anew in each sandbox; before, everything else of the person counts too. */
function countsPerSandbox(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
