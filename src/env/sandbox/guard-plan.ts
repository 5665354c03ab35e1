import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAtOrBelow, isBelow } from "../../base/path.js";
import { judgePlace } from "../../places/judge-place.js";
import { namePatterns, plainNames } from "../../places/match-place.js";
import type { PlaceRow } from "../../places/table.js";
import { namesIn } from "../names-in.js";
import { withoutSecrets } from "./filtered-copy.js";
import { arrange, type Mount, mountOver } from "./mounts.js";
import { coverAll } from "./plan.js";
import { realPath } from "./real-path.js";

/** What the boundary around the commands of one session depends on. */
export interface GuardRequest {
  /** What `~` is; more than one where HOME is not the account's own. */
  readonly homes: readonly [string, ...string[]];
  /** Homes of other people, where this process could reach into them. */
  readonly others: readonly string[];
  readonly workspace: string | undefined;
  /** Hermes' own folders. */
  readonly hidden: readonly string[];
  /** What Hermes itself is made of: it can be read, and changed only where it is what is worked on. */
  readonly program: readonly string[];
  /** What stays readable in them, and what this one command may read in any hidden place. */
  readonly shown: readonly string[];
  /** Folders and files that may be changed wherever they lie. */
  readonly writable: readonly string[];
  /** Where programs of the person's desktop have their sockets. */
  readonly runtimeDir: string | undefined;
  /** Signs for programs without showing them a key. */
  readonly sshAgent: string | undefined;
}

export interface GuardPlan {
  /** On top of the machine as it is, in their order. Without one at `/`, nothing in `/` itself can be changed. */
  readonly mounts: readonly Mount[];
  /** Start-up files, and system folders where `/` is open, that are not there or are links: no mount can hold them. */
  readonly unheld: readonly string[];
  /** Every name the plan has looked at: the plan holds as long as each is what it was. */
  readonly looked: readonly string[];
  /** Files and folders whose content is part of the plan: it holds as long as none was changed. */
  readonly dated: readonly string[];
}

/** Of these, folders above are shown as they are and only what is named inside is kept. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];
/** Desktop sockets that ordinary programs need and that run nothing for anybody. */
const DESKTOP_SOCKETS = /^(?:wayland-\d+|pulse|pipewire-\d+)$/;
/** Settings of package managers that hold a registry as well as the password for it. */
const FILTERED = [".npmrc", ".yarnrc", ".yarnrc.yml", ".pip/pip.conf", ".config/pip/pip.conf"];

const isSystem = ({ what, write }: PlaceRow) => what === "system" && write !== "allow";
const isStartup = ({ what }: PlaceRow) => what === "startup";
const isCredential = ({ what, read }: PlaceRow) =>
  (what === "credentials" || what === "system-secrets") && read !== "allow";
const isControl = ({ what }: PlaceRow) => what === "control-socket";

export function guardPlan(request: GuardRequest): GuardPlan {
  const { homes, workspace, shown, writable, sshAgent } = request;
  // Another server of this person may have the usual home.
  const people = [...homes, ...request.others];
  const hidden = [...request.hidden, ...people.map((each) => join(each, ".hermes"))];
  const below = (folders: readonly string[], names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name.replace(/\/$/, ""))));
  const system = below(["/"], plainNames("/", isSystem)).filter(
    (path) => !KERNEL_FOLDERS.some((folder) => isAtOrBelow(path, folder)),
  );
  const startup = below(homes, [...plainNames("~/", isStartup), ...pythonStartup()]);
  const credentials = [
    ...below(people, plainNames("~/", isCredential)),
    ...below(["/"], plainNames("/", isCredential)),
  ];
  const sockets = [
    ...below(people, plainNames("~/", isControl)),
    ...below(["/"], plainNames("/", isControl)),
    ...namePatterns("/", isControl).flatMap(({ folder, name }) =>
      namesIn(`/${folder}`)
        .filter((each) => name.test(each.toLowerCase()))
        .map((each) => `/${folder}/${each}`),
    ),
  ];
  const runtimeDirs = runtimeDirsOf(request);
  const project = workspace === undefined ? [] : [join(workspace, ".hermes")];
  const kept = [...startup, ...project];
  // Inside of what is covered nothing can be made or changed anyway, and must not be shown.
  const there = credentials.filter((path) => kindOf(path) !== "missing");
  const isCovered = (path: string) => there.some((above) => isAtOrBelow(path, above));
  const [home] = homes;
  const asked = [...(workspace === undefined ? [] : [workspace]), ...writable];
  const isRootOurs = isWritable("/");
  const isRootShut = isRootOurs && !homes.includes("/") && !asked.some((path) => folderOf(path) === "/");
  const covered: readonly Mount[] = [
    ...(isRootShut ? foldersOfRoot() : [{ kind: "write", path: "/" } as const]),
    ...readOnly(system),
    ...readOnly(request.others),
    ...readOnly(kept.filter((path) => !isCovered(path))),
    ...readOnly(request.program.filter((path) => !isDependency(path, workspace))),
    ...credentials.flatMap((path) => coverCredential(path, home)),
    ...sockets.flatMap(coverSocket),
    ...runtimeDirs.flatMap(desktop),
    ...coverAll(hidden),
  ];
  const visible = [...shown, ...(sshAgent === undefined ? [] : [sshAgent])].filter((path) =>
    isHiddenBy(covered, path),
  );
  // Without a mount of its own where it can: a file that is one cannot be replaced, which is how most programs write.
  const files = [...covered, ...readOnly(visible)].filter(
    ({ kind, path }) => kind === "write" || !writable.includes(path),
  );
  const opened = asked
    .flatMap((path) => realPath(path) ?? [])
    .filter((path) => isShut(files, path))
    .map((path): Mount => ({ kind: "write", path }));
  const held = [...files, ...opened];
  const mounts = arrange([...pins(held), ...held]);
  const loose = isRootOurs && !isRootShut ? system.filter((path) => dirname(path) === "/") : [];
  return {
    mounts,
    unheld: [...kept, ...loose].filter(
      (path) => kindOf(path) !== "there" && !isCovered(path) && !writable.includes(path),
    ),
    looked: [
      ...new Set([
        ...kept,
        ...credentials,
        ...sockets,
        ...hidden,
        ...runtimeDirs,
        ...(sshAgent === undefined ? [] : [sshAgent]),
      ]),
    ],
    dated: [
      ...(isRootShut ? ["/"] : []),
      ...mounts.flatMap(({ kind, path }) => (kind === "copy" ? [path] : [])),
    ],
  };
}

/**
 * Whoever may change `/`, which is root and who owns it in a container, could put another `/bin` in the place of the link
 * that it is on most machines, and no mount holds a link. So `/` is shut, and each folder in it is a mount of its own.
 */
function foldersOfRoot(): readonly Mount[] {
  return namesIn("/")
    .map((name) => `/${name}`)
    .filter((path) => look(path)?.isDirectory() === true)
    .map((path): Mount => ({ kind: "write", path }));
}

/** Packages of the project that is worked on are installed and removed together. */
function isDependency(path: string, workspace: string | undefined): boolean {
  if (basename(path) !== "node_modules" || workspace === undefined || path.includes("/_npx/")) return false;
  return isBelow(path, workspace) || isAtOrBelow(workspace, dirname(path));
}

/** What the Pythons of this machine run at each start, whatever they run: it lies in a folder that has their version. */
function pythonStartup(): readonly string[] {
  const versions = ["/usr/lib", "/usr/local/lib"]
    .flatMap(namesIn)
    .filter((name) => /^python3\.\d+$/.test(name));
  return [...new Set(versions)].flatMap((version) =>
    ["site", "user"].map((kind) => `.local/lib/${version}/site-packages/${kind}customize.py`),
  );
}

/** The folder that changes with a path, which may not be there yet. */
function folderOf(path: string): string {
  const real = realPath(path);
  if (real === undefined) return folderOf(dirname(path));
  return look(real)?.isDirectory() === true ? real : dirname(real);
}

/** Whether a command sees a path as something else than it is. */
export function isHiddenBy(mounts: readonly Mount[], path: string): boolean {
  const over = mountOver(mounts, realPath(path) ?? path)?.kind;
  return over === "empty" || over === "blank" || over === "copy";
}

function isShut(mounts: readonly Mount[], path: string): boolean {
  return mounts.some(
    (mount) => mount.kind !== "write" && mount.path !== "/" && isAtOrBelow(path, mount.path),
  );
}

function readOnly(paths: readonly string[]): readonly Mount[] {
  return paths.flatMap((path): Mount[] => {
    const real = realPath(path);
    return real === undefined || real === "/" ? [] : [{ kind: "read", path: real }];
  });
}

/** Covered, but for what the table lets be read inside: settings without secrets, public keys. */
function coverCredential(path: string, home: string): readonly Mount[] {
  const [cover] = coverAll([path]);
  if (cover === undefined) return [];
  if (cover.kind === "blank") {
    const text = FILTERED.some((name) => path.endsWith(`/${name}`)) ? withoutSecrets(cover.path) : undefined;
    return [text === undefined ? cover : { kind: "copy", path: cover.path, text }];
  }
  return [cover, ...readOnly(readableIn(cover.path, home))];
}

function readableIn(folder: string, home: string): readonly string[] {
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        judgePlace({ path, operation: "read", home, hermesHome: join(home, ".hermes") }).verdict === "allow",
    );
}

/** A folder of sockets is a private one inside, so that a command's own server of that kind works. */
function coverSocket(path: string): readonly Mount[] {
  return coverAll([path]).map((mount) => (mount.kind === "empty" ? { ...mount, writable: true } : mount));
}

/** Also where nobody told: sockets of a desktop are there for a server that was started without its variables. */
function runtimeDirsOf({ runtimeDir }: GuardRequest): readonly string[] {
  const uid = process.getuid?.();
  const usual = namesIn("/run/user").filter((name) => uid === 0 || name === String(uid));
  return [...new Set([runtimeDir ?? [], usual.map((name) => `/run/user/${name}`)].flat())];
}

function desktop(runtimeDir: string): readonly Mount[] {
  const real = realPath(runtimeDir);
  if (real === undefined || kindOf(real) !== "there" || real === "/" || real === "/tmp") return [];
  const shared = namesIn(real).filter((name) => DESKTOP_SOCKETS.test(name));
  return [
    { kind: "empty", path: real, writable: true },
    ...shared.map((name): Mount => ({ kind: "write", path: join(real, name) })),
  ];
}

/**
 * A folder above something that is held could be renamed, and another one put in its place. As mount points of their
 * own such folders stay where they are. What this process may not rename needs none: moves across a mount are copies.
 */
function pins(mounts: readonly Mount[]): readonly Mount[] {
  const pinned = new Set<string>();
  for (const { kind, path } of mounts) {
    if (kind === "write") continue;
    for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
      if (!pinned.has(folder) && !isShut(mounts, folder) && isWritable(dirname(folder))) pinned.add(folder);
    }
  }
  const taken = new Set(mounts.map(({ path }) => path));
  return [...pinned].filter((path) => !taken.has(path)).map((path): Mount => ({ kind: "write", path }));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function kindOf(path: string): "missing" | "link" | "there" {
  const stats = look(path);
  return stats === undefined ? "missing" : stats.isSymbolicLink() ? "link" : "there";
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
