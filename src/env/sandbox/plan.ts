import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { isAtOrBelow, isBelow } from "../../base/path.js";
import { plainNames } from "../../places/match-place.js";
import type { PlaceRow } from "../../places/table.js";
import { ToolError } from "../../tool/errors.js";
import { arrange, isVisible, type Mount, mountOver, socketMounts } from "./mounts.js";
import { PACKAGE_CACHES } from "./package-caches.js";
import { privateMounts } from "./private-tmp.js";
import { protectedPlaces } from "./protected-names.js";
import { realPath } from "./real-path.js";
import type { ConfineRequest, SandboxOptions } from "./types.js";
import { type WatchedName, watchNames } from "./watched-names.js";

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
  return [...emptyMounts(), ...systemMounts()];
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
    configured: confine?.writable ?? [...(options.writable ?? []), ...PACKAGE_CACHES],
    widened: widening?.write ?? [],
    homes,
  });
  const hidden = [...(options.hidden ?? []).map((path) => expand(path, home)), ...(request.hidden ?? [])];
  const runtimeDir = request.env.XDG_RUNTIME_DIR;
  const shown = [...(options.visible ?? []), ...(request.visible ?? []), ...(widening?.read ?? [])];
  if (request.program !== undefined) shown.push(request.program);
  shown.push(...programFolders(request.path, { covered: options.lasting, hidden }));
  const lifted = confine === undefined ? [...named, ...(request.lifted ?? [])] : [];
  const kept = protectedPlaces({ roots, lifted });
  const opened = withoutOwnMount(mounted, { roots, kept: kept.mounts });
  const files = [
    ...options.lasting,
    ...privateMounts(request.tmp ?? []),
    ...homes.flatMap(homeMounts),
    ...coverAll(runtimeDir === undefined ? hidden : [...hidden, runtimeDir]),
    ...shownMounts(shown, network),
    ...opened.map((path): Mount => ({ kind: "write", path })),
    ...kept.mounts,
  ];
  const arranged = arrange(files);
  const sockets = await socketMounts((path) => {
    const over = mountOver(arranged, path)?.kind;
    return over === "empty" || over === "private";
  });
  const mounts = arrange([...files, ...sockets]);
  // Links that the machine has there mean nothing in a folder of the session's own.
  const isPrivate = mountOver(mounts, request.cwd)?.kind === "private";
  const cwd = isPrivate ? request.cwd : (realPath(request.cwd) ?? request.cwd);
  if (!isVisible(mounts, cwd)) throw hiddenFolder(request.cwd);
  return { mounts, placeholders: kept.placeholders, watched: watchNames(kept.watched), cwd, network };
}

/** Folders of PATH below temporary ones, which are covered: the shell itself may lie there. A link could lead anywhere. */
function programFolders(
  path: string | undefined,
  { covered, hidden }: { readonly covered: readonly Mount[]; readonly hidden: readonly string[] },
): readonly string[] {
  return (path ?? "").split(delimiter).filter((folder) => {
    const isCovered = covered.some(
      (mount) => mount.kind === "empty" && mount.writable && isBelow(folder, mount.path),
    );
    return isCovered && realPath(folder) === folder && !hidden.some((place) => isAtOrBelow(folder, place));
  });
}

/** What can be written as a part of its root has no mount of its own: a file that is one could not be replaced. */
function withoutOwnMount(
  paths: readonly string[],
  place: { readonly roots: readonly string[]; readonly kept: readonly Mount[] },
): readonly string[] {
  const { roots, kept } = place;
  const around = arrange([...roots.map((path): Mount => ({ kind: "write", path })), ...kept]);
  return paths.filter((path) => roots.includes(path) || mountOver(around, path)?.kind !== "write");
}

/** HOME may have been set to another folder; the keys lie in the account's own all the same. */
export function homesOf(home: string): readonly [string, ...string[]] {
  const first = realPath(home) ?? home;
  accountHome ??= accountsHome();
  const account = accountHome === "" ? undefined : realPath(accountHome);
  return account === undefined || account === first || account === "/" ? [first] : [first, account];
}

let accountHome: string | undefined;

/** Nothing but a boundary keeps root's commands from what other people keep to themselves. */
export function homesOfOthers(homes: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  people ??= [...new Set(homesOfPeople().flatMap((path) => realPath(path) ?? []))];
  return people.filter((path) => !homes.some((home) => isAtOrBelow(home, path)));
}

let people: readonly string[] | undefined;
/** More have an administrator who thinks twice about working as root. */
const MOST_PEOPLE = 32;

/** Accounts below are of services, such as a database that root starts and that writes into its home. */
const FIRST_PERSON = 1_000;

/** Of everybody who can log in. */
export function homesOfPeople(table = "/etc/passwd"): readonly string[] {
  const lines = existsSync(table) ? readFileSync(table, "utf8").split("\n") : [];
  const homes = lines.flatMap((line) => {
    const [, , number, , , home = "", shell = ""] = line.split(":");
    const isPerson = Number(number) === 0 || Number(number) >= FIRST_PERSON;
    return isPerson && home.startsWith("/") && shell.endsWith("sh") ? [home] : [];
  });
  return homes.slice(0, MOST_PEOPLE);
}

/** Empty where the system does not know this account. */
function accountsHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

/** Folders full of other programs' sockets and temporary files. */
function emptyMounts(): readonly Mount[] {
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

export function hiddenFolder(path: string): ToolError {
  return new ToolError(`Cannot run in ${path}: commands in the sandbox do not see that folder.`, {
    code: "denied",
    hint: "Run in the session's working folder or below it.",
  });
}

export interface RootRequest {
  readonly workspace: string | undefined;
  /** From the configuration. */
  readonly configured: readonly string[];
  /** Asked for by this call. */
  readonly widened: readonly string[];
  /** What `~` means; the first of the homes. */
  readonly homes: readonly [string, ...string[]];
}

export interface WritableRoots {
  /** Real paths; none lies inside another. Protected names are looked for in these. */
  readonly roots: readonly string[];
  /** Real paths that somebody named on purpose. */
  readonly named: readonly string[];
  /** Of those, what exists and needs a mount of its own. */
  readonly mounted: readonly string[];
}

/** The real paths a command may change. */
export function writableRoots(request: RootRequest): WritableRoots {
  const { homes } = request;
  const [home] = homes;
  const workspace = request.workspace === undefined ? undefined : realPath(request.workspace);
  const configured = request.configured.map((path) => realPath(expand(path, home)));
  // Everything below the home folder would include keys and start-up files, whose names nobody can list.
  const usable = [workspace, ...configured]
    .filter((path) => path !== undefined)
    .filter((path) => !isTooWide(path, homes));
  const named = usable.filter((path) => path !== workspace);
  const mounted = [...usable];
  for (const path of request.widened) {
    const expanded = expand(path, home);
    const real = realPath(expanded);
    // What the person was shown must be what is opened.
    if (real !== undefined && real !== expanded) throw leadsElsewhere(path, real);
    if (real !== undefined && isTooWide(real, homes)) throw tooWide(path);
    const missing = real === undefined ? placeOfMissing(expanded, usable) : undefined;
    const place = real ?? missing;
    if (place === undefined) throw cannotWiden(path);
    named.push(place);
    if (real !== undefined) mounted.push(real);
  }
  const roots = [...new Set(mounted)].filter((path) => !mounted.some((other) => isBelow(path, other)));
  return { roots, named, mounted: [...new Set(mounted)] };
}

/** What the settings let be changed besides: what is there, and is not the whole home. */
export function configuredPaths(
  paths: readonly string[],
  homes: readonly [string, ...string[]],
): readonly string[] {
  return paths
    .flatMap((path) => realPath(expand(path, homes[0])) ?? [])
    .filter((path) => !isTooWide(path, homes));
}

/** What one command may change besides, in a boundary that keeps single places: real, and not the whole home. */
export function openedPaths(
  paths: readonly string[],
  homes: readonly [string, ...string[]],
): readonly string[] {
  return paths.map((path) => {
    const expanded = expand(path, homes[0]);
    const real = realPath(expanded);
    if (real !== undefined && real !== expanded) throw leadsElsewhere(path, real);
    if (real === undefined && realPath(dirname(expanded)) !== dirname(expanded)) throw cannotWiden(path);
    if (isTooWide(expanded, homes)) throw tooWide(path);
    return expanded;
  });
}

function isTooWide(path: string, homes: readonly string[]): boolean {
  return path === "/" || homes.some((home) => isAtOrBelow(home, path));
}

export function expand(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : resolve(path);
}

/** What does not exist can only be opened inside a folder that may be changed, where it will be made. */
function placeOfMissing(path: string, roots: readonly string[]): string | undefined {
  const parent = realPath(resolve(path, ".."));
  if (parent === undefined) return undefined;
  const place = join(parent, path.slice(path.lastIndexOf("/") + 1));
  return roots.some((root) => isBelow(place, root)) ? place : undefined;
}

function tooWide(path: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: your home folder lies in it.`, {
    code: "invalid_arguments",
    hint: "Name the folder the command really changes.",
  });
}

function leadsElsewhere(path: string, real: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: it leads to ${real}.`, {
    code: "invalid_arguments",
    hint: "Name that place itself.",
  });
}

function cannotWiden(path: string): ToolError {
  return new ToolError(`The sandbox cannot open ${path} for writing: it does not exist.`, {
    code: "invalid_arguments",
    hint: "Name an existing file or folder, such as the folder in which it will be made.",
  });
}

/** What commands in the sandbox do not see: whatever reading would be asked about, histories, and Hermes' own home. */
function isHidden({ what, read }: PlaceRow): boolean {
  return read !== "allow" || what === "history";
}

/**
 * Covers every credential store of the home folder that is there. What is not there cannot be made: the
 * folder is read-only. Most are not, so the folder is listed once instead of asking for each.
 */
function homeMounts(home: string): readonly Mount[] {
  const names = namesIn(home);
  const places = [
    ".hermes",
    ...plainNames("~/", isHidden),
    ...plainNames("**/", ({ what }) => what === "history"),
  ];
  const present = places.filter((path) => names.has(path.split("/")[0] ?? path));
  return coverAll(present.map((path) => join(home, path)));
}

function systemMounts(): readonly Mount[] {
  return coverAll(plainNames("/", isHidden).map((path) => `/${path}`));
}

/** Covers what exists with nothing. */
export function coverAll(paths: readonly string[]): readonly Mount[] {
  return paths.map(cover).filter((mount) => mount !== undefined);
}

function cover(path: string): Mount | undefined {
  const real = realPath(path);
  const stats = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
  if (real === undefined || stats === undefined) return undefined;
  return stats.isDirectory() ? { kind: "empty", path: real, writable: false } : { kind: "blank", path: real };
}

/** A home folder that cannot be listed is asked for every name. */
function namesIn(home: string): { has(name: string): boolean } {
  try {
    return new Set(readdirSync(home));
  } catch {
    return { has: () => true };
  }
}
