import { type FSWatcher, realpathSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { WatchedPlaces } from "./watched-places.js";

type Names = Set<string> | "all";

interface Watched {
  readonly watcher: FSWatcher;
  /** Tells a folder from another one that has taken its place. */
  readonly identity: string;
  names: Names;
}

/**
 * Lets the system tell when something happens near the watched places. It only says that it is worth to look: what
 * has changed is for the content to say.
 */
export class FolderWatchers {
  readonly #watched = new Map<string, Watched>();
  readonly #onHint: () => void;
  #isBlind = false;

  constructor(onHint: () => void) {
    this.#onHint = onHint;
  }

  /** True when the system could not watch everything: it has no more watches, or cannot watch this disk. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /**
   * Follows the places as they are now; `folders` are those that exist below the watched ones. True when there are
   * new ones among them: what happened in those before this moment nobody has told.
   */
  follow(places: WatchedPlaces, folders: readonly string[]): boolean {
    const wanted = foldersToWatch(places, folders);
    this.#isBlind = false;
    for (const [folder, { watcher, identity }] of this.#watched) {
      if (wanted.has(folder) && identityOf(folder) === identity) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    let isNew = false;
    for (const [folder, names] of wanted) {
      const known = this.#watched.get(folder);
      if (known === undefined) isNew = this.#start(folder, names) || isNew;
      else known.names = names;
    }
    return isNew;
  }

  #start(folder: string, names: Names): boolean {
    const identity = identityOf(folder);
    if (identity === undefined) return false;
    try {
      const watcher = watch(folder, (_kind, name) => this.#happened(folder, name));
      // It is begun anew when everything is looked at the next time.
      watcher.on("error", () => {
        watcher.close();
        if (this.#watched.get(folder)?.watcher === watcher) this.#watched.delete(folder);
      });
      watcher.unref();
      this.#watched.set(folder, { watcher, identity, names });
      return true;
    } catch {
      this.#isBlind = true;
      return false;
    }
  }

  #happened(folder: string, name: string | null): void {
    const names = this.#watched.get(folder)?.names;
    if (names === undefined) return;
    const counts =
      name === null ||
      name === basename(folder) ||
      (names === "all" ? !name.startsWith(".") : names.has(name));
    if (counts) this.#onHint();
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }
}

/** Each folder to listen to, with the names that count in it. What does not exist yet is waited for in what does. */
function foldersToWatch(places: WatchedPlaces, folders: readonly string[]): ReadonlyMap<string, Names> {
  const wanted = new Map<string, Names>();
  const listenFor = (path: string): void => {
    let [folder, name] = [dirname(path), basename(path)];
    while (!isFolder(folder) && folder !== dirname(folder)) {
      [folder, name] = [dirname(folder), basename(folder)];
    }
    const names = wanted.get(folder) ?? new Set<string>();
    if (names !== "all") wanted.set(folder, names.add(name));
  };
  for (const folder of folders) wanted.set(folder, "all");
  for (const path of [...places.settings, ...places.files, ...places.folders]) {
    listenFor(path);
    const real = realPathOf(path);
    // A file that is a link changes where it leads to.
    if (real !== undefined && real !== path) listenFor(real);
  }
  return wanted;
}

function identityOf(folder: string): string | undefined {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    return stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  return identityOf(path) !== undefined;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
