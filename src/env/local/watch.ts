import { type FSWatcher, watch as watchFolder } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isMissing } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { FileChange, WatchOptions } from "../environment.js";
import { fileError } from "./file-errors.js";
import { combined, type Entry, inTurns, look } from "./watched-entry.js";

/** Events come in bursts; what happens to a path within this time is told once. */
const GATHER_MS = 20;
const POLL_MS = 1_000;
/** Looking must not become all that is done: at most a tenth of the time. */
const POLL_REST_FACTOR = 9;
/** The system drops events without a word when more than 16,384 wait; then everything is looked at again. */
const BURST_EVENTS = 4_096;
/** Files of an unfinished write. */
const TEMPORARY = /^\.hermes-[0-9a-f]{12}\.tmp$/;

interface Folder {
  readonly entries: Map<string, Entry>;
  watcher: FSWatcher | undefined;
}

/** What is to be looked at in a folder: names, with whether the system says their content changed. */
type Suspects = Map<string, boolean>;

/**
 * Tells what changes in a folder, below it, or to one file. The system says where to look, and looking says
 * what changed, so each path is told once however many events it had. Where the system cannot watch, it is
 * looked at again and again. Nothing is lost while the caller deals with a change.
 */
export async function* watchLocal(path: string, options: WatchOptions): AsyncGenerator<FileChange> {
  const { signal } = options;
  if (signal.aborted) return;
  const watch = await LocalWatch.open(path, options);
  const stop = () => watch.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) return;
    options.onReady?.();
    for (;;) {
      for (const change of watch.take()) {
        if (signal.aborted) return;
        yield change;
      }
      if (signal.aborted) return;
      await watch.somethingChanged();
    }
  } finally {
    signal.removeEventListener("abort", stop);
    watch.close();
  }
}

class LocalWatch {
  /** Where it really is; changes are told with the path that was asked for. */
  readonly #root: string;
  readonly #shownRoot: string;
  /** The one name that counts, when a file is watched. */
  readonly #only: string | undefined;
  readonly #recursive: boolean;
  readonly #folders = new Map<string, Folder>();
  readonly #suspects = new Map<string, Suspects>();
  readonly #changes = new Map<string, FileChange["change"]>();
  /** Undefined while it is gone. */
  #rootEntry: Entry | undefined;
  #rootSuspect = false;
  #events = 0;
  #looking = false;
  #polls = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #wake = () => {};

  private constructor(place: { root: string; shown: string; only: string | undefined; recursive: boolean }) {
    this.#root = place.root;
    this.#shownRoot = place.shown;
    this.#only = place.only;
    this.#recursive = place.recursive;
  }

  static async open(path: string, options: WatchOptions): Promise<LocalWatch> {
    if (!isAbsolute(path)) {
      throw new ToolError(`The path ${JSON.stringify(path)} is not absolute.`, { code: "invalid_arguments" });
    }
    let watch: LocalWatch | undefined;
    try {
      const real = await fs.realpath(path);
      const isFolder = (await fs.stat(real)).isDirectory();
      watch = new LocalWatch({
        root: isFolder ? real : dirname(real),
        shown: isFolder ? path : dirname(path),
        only: isFolder ? undefined : basename(real),
        recursive: isFolder && options.recursive === true,
      });
      watch.#rootEntry = await look(watch.#root);
      await watch.#addFolder(watch.#root, false);
      return watch;
    } catch (error) {
      watch?.close();
      throw fileError({ error, path, action: "watch" });
    }
  }

  /** What has changed since the last time, in the order in which it was seen. */
  take(): readonly FileChange[] {
    const taken = [...this.#changes].map(([path, change]) => ({ path, change }));
    this.#changes.clear();
    return taken;
  }

  somethingChanged(): Promise<void> {
    if (this.#changes.size > 0 || this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const folder of this.#folders.values()) folder.watcher?.close();
    this.#folders.clear();
    this.#wake();
  }

  /** Watched before it is read, so that nothing falls in between. */
  async #addFolder(path: string, told: boolean): Promise<void> {
    if (this.#closed || this.#folders.has(path)) return;
    const folder: Folder = { entries: new Map(), watcher: undefined };
    this.#folders.set(path, folder);
    folder.watcher = this.#startWatcher(path);
    const names = await fs.readdir(path).catch((error: unknown) => {
      if (path === this.#root && !told) throw error;
      return [];
    });
    const wanted = names.filter((name) => this.#counts(path, name));
    await inTurns(wanted, async (name) => {
      const entry = await look(join(path, name));
      if (entry !== undefined && !this.#closed) await this.#appeared({ path, name, entry, told });
    });
  }

  async #appeared(found: { path: string; name: string; entry: Entry; told: boolean }): Promise<void> {
    const { path, name, entry, told } = found;
    this.#folders.get(path)?.entries.set(name, entry);
    if (told) this.#note(join(path, name), "created");
    if (entry.isFolder && this.#recursive) await this.#addFolder(join(path, name), told);
  }

  #startWatcher(path: string): FSWatcher | undefined {
    if (this.#polls) return undefined;
    try {
      const watcher = watchFolder(path, (kind, name) => this.#suspect(path, name, kind === "change"));
      // The folder may go away, which its parent tells.
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch (error) {
      if (!isMissing(error)) this.#pollFromNowOn();
      return undefined;
    }
  }

  /** The system has no more watches to give, or cannot watch this kind of disk. */
  #pollFromNowOn(): void {
    if (this.#polls) return;
    this.#polls = true;
    for (const folder of this.#folders.values()) folder.watcher?.close();
    this.#lookSoon(POLL_MS);
  }

  #suspect(folder: string, name: string | null, contentChanged: boolean): void {
    if (this.#closed) return;
    this.#events += 1;
    if (name !== null && name !== "" && this.#counts(folder, name)) {
      const names = this.#suspects.get(folder) ?? new Map<string, boolean>();
      this.#suspects.set(folder, names);
      names.set(name, contentChanged || names.get(name) === true);
    }
    // A folder that goes away or is moved tells its own name.
    if (folder === this.#root && name === basename(folder)) this.#rootSuspect = true;
    this.#lookSoon(GATHER_MS);
  }

  #counts(folder: string, name: string): boolean {
    if (this.#only !== undefined) return folder === this.#root && name === this.#only;
    return !TEMPORARY.test(name);
  }

  #lookSoon(afterMs: number): void {
    if (this.#timer !== undefined || this.#looking || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look();
    }, afterMs);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const started = performance.now();
    try {
      if (this.#polls || this.#rootSuspect) await this.#compareRoot();
      if (this.#polls || this.#events > BURST_EVENTS) await this.#suspectEverything();
      this.#events = 0;
      const suspects = [...this.#suspects];
      this.#suspects.clear();
      for (const [folder, names] of suspects) {
        await inTurns([...names], ([name, changed]) => this.#compare({ folder, name, changed }));
      }
    } catch {
      // What cannot be looked at now is looked at with the next event.
    } finally {
      this.#looking = false;
    }
    if (this.#changes.size > 0) this.#wake();
    if (this.#polls) this.#lookSoon(Math.max(POLL_MS, (performance.now() - started) * POLL_REST_FACTOR));
    else if (this.#suspects.size > 0) this.#lookSoon(GATHER_MS);
  }

  /** A folder of the same name that takes its place later can only be found by looking. */
  async #compareRoot(): Promise<void> {
    this.#rootSuspect = false;
    const before = this.#rootEntry;
    const now = await look(this.#root);
    this.#rootEntry = now;
    if (before?.signature === now?.signature) return;
    if (this.#only === undefined && now === undefined) this.#note(this.#root, "removed");
    if (this.#only === undefined && before === undefined) this.#note(this.#root, "created");
    this.#pollFromNowOn();
  }

  async #suspectEverything(): Promise<void> {
    await inTurns([...this.#folders.keys()], async (folder) => {
      const suspects = this.#all(folder);
      for (const name of await fs.readdir(folder).catch(() => [])) {
        if (this.#counts(folder, name) && !suspects.has(name)) suspects.set(name, false);
      }
      this.#suspects.set(folder, suspects);
    });
  }

  #all(folder: string): Suspects {
    const known = this.#suspects.get(folder) ?? new Map<string, boolean>();
    for (const name of this.#folders.get(folder)?.entries.keys() ?? []) {
      if (!known.has(name)) known.set(name, false);
    }
    return known;
  }

  async #compare(suspect: { folder: string; name: string; changed: boolean }): Promise<void> {
    const { folder, name } = suspect;
    const path = join(folder, name);
    const entries = this.#folders.get(folder)?.entries;
    if (entries === undefined) return;
    const before = entries.get(name);
    const now = await look(path);
    if (this.#closed) return;
    if (now === undefined) {
      if (before !== undefined) this.#disappeared({ folder, name, entry: before });
      return;
    }
    if (before === undefined) return this.#appeared({ path: folder, name, entry: now, told: true });
    entries.set(name, now);
    if (before.signature === now.signature && (now.isFolder || !suspect.changed)) return;
    if (before.isFolder) this.#forget(path);
    this.#note(path, "changed");
    if (now.isFolder && this.#recursive) await this.#addFolder(path, true);
  }

  #disappeared(gone: { folder: string; name: string; entry: Entry }): void {
    const path = join(gone.folder, gone.name);
    this.#folders.get(gone.folder)?.entries.delete(gone.name);
    if (gone.entry.isFolder) this.#forget(path);
    this.#note(path, "removed");
  }

  /** A folder is gone, and everything that was below it. */
  #forget(path: string): void {
    const folder = this.#folders.get(path);
    if (folder === undefined) return;
    for (const [name, entry] of [...folder.entries]) this.#disappeared({ folder: path, name, entry });
    folder.watcher?.close();
    this.#folders.delete(path);
  }

  #note(path: string, change: FileChange["change"]): void {
    const shown = this.#shownRoot + path.slice(this.#root.length);
    const before = this.#changes.get(shown);
    const together = combined(before, change);
    if (together === undefined) this.#changes.delete(shown);
    else this.#changes.set(shown, together);
  }
}
