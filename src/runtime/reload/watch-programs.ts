import { type FSWatcher, watch } from "node:fs";
import { delimiter } from "node:path";
import type { Runtime } from "../runtime.js";

/** Installing a package writes many programs; they are looked at together. */
const BURST_MS = 100;
/** PATH lists of some machines are endless; what comes late in them is found when it is asked for. */
const MOST_FOLDERS = 64;

/** Lets the system tell when a program on PATH is installed or removed, so that availability turns at once. */
export class ProgramWatchers {
  readonly #runtime: Runtime;
  readonly #watched = new Map<string, FSWatcher>();
  #soon: NodeJS.Timeout | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** PATH as it is in force now. A folder that is missing, or cannot be watched, has nobody to tell of it. */
  follow(): void {
    const path = (this.#runtime.config.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
    const wanted = new Set(path.slice(0, MOST_FOLDERS));
    for (const [folder, watcher] of this.#watched) if (!wanted.has(folder)) this.#stop(folder, watcher);
    for (const folder of wanted) if (!this.#watched.has(folder)) this.#start(folder);
  }

  close(): void {
    clearTimeout(this.#soon);
    for (const [folder, watcher] of this.#watched) this.#stop(folder, watcher);
  }

  #start(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#lookSoon());
      watcher.on("error", () => this.#stop(folder, watcher));
      watcher.unref();
      this.#watched.set(folder, watcher);
    } catch {
      // Missing, or the system has no more watches: asking finds it within a second.
    }
  }

  #stop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watched.get(folder) === watcher) this.#watched.delete(folder);
  }

  /** Not put off by what follows: in some folders it is never quiet. */
  #lookSoon(): void {
    if (this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      void this.#runtime.programsChanged();
    }, BURST_MS);
    this.#soon.unref();
  }
}
