import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

interface Folder {
  /** Identity and time of change when its names were looked at last; empty when it is not there. */
  seen: string;
  /** False when it had changed just before: a second change may show the same time. */
  settled: boolean;
  readonly names: string[];
}

const SETTLED_MS = 100;

/** Names that may appear, disappear or become something else, looked at often: folder by folder, as few as possible. */
export class NameWatch {
  readonly #asked: ReadonlySet<string>;
  readonly #known = new Map<string, string>();
  /** Each behind the one it lies in. */
  readonly #folders = new Map<string, Folder>();

  constructor(paths: Iterable<string>) {
    this.#asked = new Set(paths);
    for (const path of this.#asked) this.#add(path);
  }

  #add(path: string): void {
    if (this.#known.has(path)) return;
    this.#known.set(path, identityOf(path));
    const above = dirname(path);
    const folder = this.#folders.get(above) ?? { ...stateOf(above), names: [] };
    folder.names.push(path);
    // Most are not there: the folder above tells when one comes.
    if (folder.seen === "") this.#add(above);
    this.#folders.set(above, folder);
  }

  /** Names that are not what they were when they were looked at before. */
  changed(): readonly string[] {
    const found: string[] = [];
    for (const [path, folder] of this.#folders) {
      if (folder.seen === "" && this.#known.get(path) === "") continue;
      const now = stateOf(path);
      if (folder.settled && now.seen === folder.seen) continue;
      Object.assign(folder, now);
      for (const name of folder.names) {
        const identity = identityOf(name);
        if (identity === this.#known.get(name)) continue;
        this.#known.set(name, identity);
        if (this.#asked.has(name)) found.push(name);
      }
    }
    return found;
  }
}

function stateOf(folder: string): { readonly seen: string; readonly settled: boolean } {
  const stats = look(() => statSync(folder, { throwIfNoEntry: false }));
  if (stats === undefined) return { seen: "", settled: true };
  // Not the time of modification, which whoever changes something can put back.
  return {
    seen: `${stats.dev}:${stats.ino}:${stats.ctimeMs}`,
    settled: Date.now() - stats.ctimeMs > SETTLED_MS,
  };
}

/** Missing, a link to somewhere, or a file or folder; settings that are shown as a copy count with their content. */
function identityOf(path: string): string {
  const stats = look(() => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return "";
  return stats.isSymbolicLink() ? `->${look(() => readlinkSync(path))}` : `${stats.dev}:${stats.ino}`;
}

function look<T extends Stats | string>(at: () => T | undefined): T | undefined {
  try {
    return at();
  } catch {
    return undefined;
  }
}
