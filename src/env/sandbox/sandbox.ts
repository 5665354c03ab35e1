import { homedir, userInfo } from "node:os";
import { ToolError } from "../../tool/errors.js";
import { bwrapArguments } from "./bwrap-arguments.js";
import { coverAll, homeMounts, systemMounts } from "./credential-places.js";
import { FilterFile } from "./filter-file.js";
import { socketMounts } from "./host-sockets.js";
import { arrange, isVisible, type Mount, mountOver } from "./mounts.js";
import { holdPlace, type Placeholder, releasePlace } from "./placeholders.js";
import { probeBwrap, type Unavailable, type WorkingBwrap } from "./probe.js";
import { protectedPlaces } from "./protected-names.js";
import { realPath } from "./real-path.js";
import { DEFAULT_LIMITS, type SandboxLimits, type SandboxOptions, type Widening } from "./types.js";
import { putBack, type WatchedName, watchNames } from "./watched-names.js";
import { expand, writableRoots } from "./writable-roots.js";

/** Descriptor on which bubblewrap finds the filter of system calls. */
export const FILTER_DESCRIPTOR = 4;

export interface ConfineRequest {
  readonly cwd: string;
  readonly workspace?: string | undefined;
  readonly widening?: Widening | undefined;
  /** A program that a tool starts by its path, which may lie where commands see nothing. */
  readonly program?: string | undefined;
  /** The complete environment of the command. */
  readonly env: Readonly<Record<string, string>>;
}

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
  /** Answers with the protected names that the command had changed and that were put back. */
  release(): Promise<readonly string[]>;
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
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const lasting = [...privateMounts(), ...systemMounts()];
  return {
    async confine(request) {
      for (let attempt = 1; ; attempt += 1) {
        const plan = await planFor(request, { ...options, lasting });
        try {
          return confinementOf({ plan, request, bwrap, limits, filter });
        } catch (error) {
          // Another command's stand-in for a folder went away since the plan was made.
          const vanished = (error as NodeJS.ErrnoException).code === "ENOENT";
          if (!vanished || attempt === MAX_PLANS) throw error;
        }
      }
    },
    close: () => filter.close(),
  };
}

interface Plan {
  readonly mounts: readonly Mount[];
  readonly placeholders: readonly string[];
  readonly watched: readonly WatchedName[];
  readonly cwd: string;
  readonly network: boolean;
}

async function planFor(
  request: ConfineRequest,
  options: SandboxOptions & { readonly home?: string; readonly lasting: readonly Mount[] },
): Promise<Plan> {
  const homes = homesOf(options.home ?? (request.env.HOME || homedir()));
  const [home] = homes;
  const { widening } = request;
  const network = widening?.network ?? options.network ?? false;
  const { roots, named, mounted } = writableRoots({
    workspace: request.workspace ?? options.workspace,
    configured: options.writable ?? [],
    widened: widening?.write ?? [],
    homes,
  });
  const hidden = (options.hidden ?? []).map((path) => expand(path, home));
  const runtimeDir = request.env.XDG_RUNTIME_DIR;
  const shown = [...(options.visible ?? []), ...(widening?.read ?? [])];
  if (request.program !== undefined) shown.push(request.program);
  const kept = protectedPlaces({ roots, lifted: named });
  const files = [
    ...options.lasting,
    ...homes.flatMap(homeMounts),
    ...coverAll(runtimeDir === undefined ? hidden : [...hidden, runtimeDir]),
    ...shownMounts(shown, network),
    ...mounted.map((path): Mount => ({ kind: "write", path })),
    ...kept.mounts,
  ];
  const arranged = arrange(files);
  const sockets = await socketMounts((path) => mountOver(arranged, path)?.kind === "empty");
  const mounts = arrange([...files, ...sockets]);
  const cwd = realPath(request.cwd) ?? request.cwd;
  if (!isVisible(mounts, cwd)) throw hiddenFolder(request.cwd);
  return { mounts, placeholders: kept.placeholders, watched: watchNames(kept.watched), cwd, network };
}

/** HOME may have been set to another folder; the keys lie in the account's own all the same. */
function homesOf(home: string): readonly [string, ...string[]] {
  const first = realPath(home) ?? home;
  try {
    const account = realPath(userInfo().homedir);
    return account === undefined || account === first || account === "/" ? [first] : [first, account];
  } catch {
    return [first];
  }
}

function confinementOf(parts: {
  readonly plan: Plan;
  readonly request: ConfineRequest;
  readonly bwrap: WorkingBwrap;
  readonly limits: SandboxLimits;
  readonly filter: FilterFile;
}): Confinement {
  const { plan, request, bwrap, limits } = parts;
  const held: Placeholder[] = [];
  const letGo = () => Promise.all(held.map(releasePlace));
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
    const { ours, theirs } = splitEnvironment(request.env);
    const filter = parts.filter.open();
    return {
      argv: [
        bwrap.program,
        ...bwrapArguments({
          mounts,
          network: plan.network,
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
      async release() {
        const changed = putBack(plan.watched);
        await letGo();
        return changed;
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

/** Folders full of other programs' sockets and temporary files. */
function privateMounts(): readonly Mount[] {
  return ["/tmp", "/var/tmp", "/run", "/var/run"].flatMap((path): Mount[] => {
    const real = realPath(path);
    return real === undefined || real === "/" ? [] : [{ kind: "empty", path: real, writable: true }];
  });
}

/** Also where names of hosts are looked up, which often is a link into a private folder. */
function shownMounts(paths: readonly string[], network: boolean): readonly Mount[] {
  return [...paths, ...(network ? ["/etc/resolv.conf"] : [])].flatMap((path): Mount[] => {
    const real = realPath(path);
    return real === undefined ? [] : [{ kind: "read", path: real }];
  });
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

function hiddenFolder(path: string): ToolError {
  return new ToolError(`Cannot run in ${path}: commands in the sandbox do not see that folder.`, {
    code: "denied",
    hint: "Run in the session's working folder or below it.",
  });
}
