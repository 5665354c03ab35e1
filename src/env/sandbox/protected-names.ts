import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isAtOrBelow, isBelow } from "../../base/path.js";
import { plainNames } from "../../places/match-place.js";
import type { PlaceKind } from "../../places/table.js";
import { namesIn } from "../names-in.js";
import type { Mount } from "./mounts.js";
import { isPlaceholder } from "./placeholders.js";
import { realPath } from "./real-path.js";

/**
 * Folders of a workspace from which other programs later run code outside the sandbox: version control,
 * editors, agents, and this runtime. They stay as they are whether or not they exist.
 */
const FOLDERS = [
  ...new Set(namesOf("git", "project-hermes", "editor").flatMap((name) => /^(.+?)\//.exec(name)?.[1] ?? [])),
];
/** The same for single files; a stand-in for a missing one would confuse its readers. */
const FILES = namesOf("editor").filter((name) => !name.includes("/"));
/** Kept when they are there: secrets, and folders of hooks. Making one is a step of setting a project up. */
const IF_PRESENT = namesOf("environment", "git-hooks").map((name) => name.replace(/\/$/, ""));
/** What git runs or obeys. `worktrees` and `modules` lead to such files of other checkouts. */
const GIT_READ_ONLY = ["config", "hooks", "worktrees"];
const GIT_MUST_NOT_APPEAR = ["commondir", "config.worktree"];
/** Bounds of the search for submodules: folders looked at, and levels. */
const MAX_MODULES = 300;
const MAX_MODULE_DEPTH = 6;

/** What the table of places knows of these kinds in any folder. */
function namesOf(...kinds: readonly PlaceKind[]): readonly string[] {
  return plainNames("**/", ({ what }) => kinds.includes(what));
}

export interface ProtectedPlaces {
  readonly mounts: readonly Mount[];
  /** Missing folders that need something to mount on. */
  readonly placeholders: readonly string[];
  /** Names that no mount can hold: looked at before and after the command. */
  readonly watched: readonly string[];
}

export interface ProtectionRequest {
  /** Real paths of what the command may change. */
  readonly roots: readonly string[];
  /** Real paths that somebody has opened on purpose, by this very name or one below it. */
  readonly lifted: readonly string[];
}

/** What must stay as it is inside the folders a command may change. */
export function protectedPlaces(request: ProtectionRequest): ProtectedPlaces {
  const found = new Findings(request);
  for (const root of request.roots.filter((path) => kindOf(path) === "folder")) {
    for (const name of FOLDERS) found.folder(root, name);
    for (const name of FILES) found.single(root, join(root, name), "watch");
    for (const name of IF_PRESENT) found.single(root, join(root, name), "leave");
  }
  return { mounts: found.mounts(), placeholders: [...found.placeholders], watched: [...found.watched] };
}

class Findings {
  readonly #request: ProtectionRequest;
  readonly #openedFolders: readonly string[];
  readonly #readOnly = new Set<string>();
  /** Folders above protected ones: as mount points they cannot be renamed away. */
  readonly #pinned = new Set<string>();
  readonly placeholders = new Set<string>();
  readonly watched = new Set<string>();

  constructor(request: ProtectionRequest) {
    const { roots, lifted } = request;
    this.#request = request;
    this.#openedFolders = lifted.filter((path) =>
      roots.some((root) => FOLDERS.some((name) => isAtOrBelow(path, join(root, name)))),
    );
  }

  mounts(): readonly Mount[] {
    const pinned = [...this.#pinned].filter((path) => !this.#readOnly.has(path));
    return [
      ...pinned.map((path): Mount => ({ kind: "write", path })),
      ...[...this.#readOnly].map((path): Mount => ({ kind: "read", path })),
      ...[...this.placeholders].map((path): Mount => ({ kind: "empty", path, writable: false })),
    ];
  }

  folder(root: string, name: string): void {
    const path = join(root, name);
    if (name !== ".git") {
      this.single(root, path, "placeholder");
      return;
    }
    const kind = kindOf(path);
    if (kind === "folder" && !this.#isLifted(path)) {
      this.#gitFolder(root, path);
      const hooks = hooksFolderOf(join(path, "config"), root);
      if (hooks !== undefined && isBelow(hooks, root)) this.single(root, hooks, "placeholder");
      for (const module of modulesBelow(join(path, "modules"))) this.#gitFolder(root, module);
      return;
    }
    this.single(root, path, "placeholder");
    const gitFolder = kind === "file" || kind === "link" ? gitFolderOf(path, kind) : undefined;
    const holder = this.#holderOf(gitFolder);
    if (gitFolder !== undefined && holder !== undefined) this.#gitFolder(holder, gitFolder);
  }

  single(root: string, path: string, ifMissing: "placeholder" | "watch" | "leave"): void {
    if (this.#isLifted(path)) return;
    const kind = kindOf(path);
    if (kind === "file" || kind === "folder") this.#keep(root, path);
    else if (kind === "placeholder") this.placeholders.add(path);
    else if (kind === "link") this.#followLink(path);
    else if (ifMissing === "placeholder") this.placeholders.add(path);
    else if (ifMissing === "watch") this.watched.add(path);
  }

  #gitFolder(root: string, folder: string): void {
    for (const name of [...GIT_READ_ONLY, ...GIT_MUST_NOT_APPEAR]) {
      const path = join(folder, name);
      if (this.#isLifted(path)) continue;
      const kind = kindOf(path);
      if (kind === "link") {
        // It cannot be held in place itself; the whole folder can.
        this.#followLink(path);
        this.#keep(root, folder);
      } else if (kind === "file" || kind === "folder") this.#keep(root, path);
      else if (name === "hooks") this.placeholders.add(path);
      else if (name !== "worktrees") this.watched.add(path);
    }
    this.#pin(root, folder);
  }

  /** A link is put back when it was changed; what it leads to is kept if the command could change it. */
  #followLink(path: string): void {
    this.watched.add(path);
    const target = realPath(path);
    const holder = this.#holderOf(target);
    if (target !== undefined && holder !== undefined) this.#keep(holder, target);
  }

  #holderOf(path: string | undefined): string | undefined {
    return this.#request.roots.find((root) => path !== undefined && isBelow(path, root));
  }

  #keep(root: string, path: string): void {
    this.#readOnly.add(path);
    this.#pin(root, dirname(path));
  }

  #pin(root: string, folder: string): void {
    for (let next = folder; isBelow(next, root); next = dirname(next)) this.#pinned.add(next);
  }

  /** Opening `.git` opens what is protected inside it; opening a whole workspace opens nothing. */
  #isLifted(path: string): boolean {
    return this.#request.lifted.includes(path) || this.#openedFolders.some((folder) => isBelow(path, folder));
  }
}

type Kind = "missing" | "link" | "folder" | "file" | "placeholder";

function kindOf(path: string): Kind {
  const stats = statsOf(path);
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return "link";
  if (!stats.isDirectory()) return "file";
  return isPlaceholder(path) ? "placeholder" : "folder";
}

function statsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A worktree or submodule has a file `.git` that names its folder; a link leads to it. */
function gitFolderOf(path: string, kind: "file" | "link"): string | undefined {
  if (kind === "link") return realPath(path);
  try {
    const [, named] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(path, "utf8").slice(0, 8_192)) ?? [];
    return named === undefined ? undefined : realPath(resolve(dirname(path), named));
  } catch {
    return undefined;
  }
}

/** Where the settings of a repository say that its hooks lie, if they do; relative to the working tree. */
function hooksFolderOf(config: string, tree: string): string | undefined {
  try {
    const [, named] = /^\s*hookspath\s*=\s*"?([^"\n;#]+?)"?\s*$/im.exec(readFileSync(config, "utf8")) ?? [];
    return named === undefined ? undefined : resolve(tree, named);
  } catch {
    return undefined;
  }
}

/** Folders of submodules: those that hold a HEAD. Names may have slashes in them, so they lie at any depth. */
function modulesBelow(folder: string): readonly string[] {
  const found: string[] = [];
  let waiting = [folder];
  for (let level = 0, looked = 0; level <= MAX_MODULE_DEPTH && looked < MAX_MODULES; level += 1) {
    const below: string[] = [];
    for (const next of waiting) {
      if (++looked > MAX_MODULES) break;
      const names = namesIn(next);
      const isModule = level > 0 && names.includes("HEAD");
      if (isModule) found.push(next);
      below.push(...(isModule ? ["modules"] : names).map((name) => join(next, name)));
    }
    waiting = below;
  }
  return found;
}
