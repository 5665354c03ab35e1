import { homedir, userInfo } from "node:os";
import { ToolError } from "../../tool/errors.js";
import { coverAll, homeMounts, systemMounts } from "./credential-places.js";
import { socketMounts } from "./host-sockets.js";
import { arrange, isVisible, type Mount, mountOver } from "./mounts.js";
import { protectedPlaces } from "./protected-names.js";
import { realPath } from "./real-path.js";
import type { ConfineRequest, SandboxOptions } from "./types.js";
import { type WatchedName, watchNames } from "./watched-names.js";
import { expand, writableRoots } from "./writable-roots.js";

/** What one command will see and may change. */
export interface Plan {
  readonly mounts: readonly Mount[];
  readonly placeholders: readonly string[];
  readonly watched: readonly WatchedName[];
  readonly cwd: string;
  readonly network: boolean;
}

export interface PlanOptions extends SandboxOptions {
  readonly home?: string;
  /** As `lastingMounts` gives them. */
  readonly lasting: readonly Mount[];
}

/** What is the same for every command. */
export function lastingMounts(): readonly Mount[] {
  return [...privateMounts(), ...systemMounts()];
}

export async function planFor(request: ConfineRequest, options: PlanOptions): Promise<Plan> {
  const homes = homesOf(options.home ?? (request.env.HOME || homedir()));
  const [home] = homes;
  const { confine } = request;
  // What one command may do beyond the sandbox was granted to a command, not to a script nobody has read.
  const widening = confine === undefined ? request.widening : undefined;
  const network = confine?.network ?? widening?.network ?? options.network ?? false;
  const { roots, named, mounted } = writableRoots({
    workspace: confine === undefined ? (request.workspace ?? options.workspace) : undefined,
    configured: confine?.writable ?? options.writable ?? [],
    widened: widening?.write ?? [],
    homes,
  });
  const hidden = (options.hidden ?? []).map((path) => expand(path, home));
  const runtimeDir = request.env.XDG_RUNTIME_DIR;
  const shown = [...(options.visible ?? []), ...(widening?.read ?? [])];
  if (request.program !== undefined) shown.push(request.program);
  const kept = protectedPlaces({ roots, lifted: confine === undefined ? named : [] });
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

function hiddenFolder(path: string): ToolError {
  return new ToolError(`Cannot run in ${path}: commands in the sandbox do not see that folder.`, {
    code: "denied",
    hint: "Run in the session's working folder or below it.",
  });
}
