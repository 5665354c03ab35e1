import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

interface Folder {
  /** Identity and time of change when its names were looked at last. */
  seen: string;
  /** False when it had changed just before: a second change may show the same time. */
  settled: boolean;
  readonly names: string[];
}

const SETTLED_MS = 100;

/** Names that may appear, disappear or become something else, looked at often: folder by folder, as few as possible. */
export class NameWatch {
  readonly #known = new Map<string, string>();
  readonly #folders = new Map<string, Folder>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      const folder = this.#folders.get(dirname(path));
      if (folder === undefined) {
        this.#folders.set(dirname(path), { ...stateOf(dirname(path)), names: [path] });
      } else folder.names.push(path);
      this.#known.set(path, identityOf(path));
    }
  }

  /** Names that are not what they were when they were looked at before. */
  changed(): readonly string[] {
    const found: string[] = [];
    for (const [path, folder] of this.#folders) {
      const now = stateOf(path);
      if (folder.settled && now.seen === folder.seen) continue;
      Object.assign(folder, now);
      for (const name of folder.names) {
        const identity = identityOf(name);
        if (identity === this.#known.get(name)) continue;
        this.#known.set(name, identity);
        found.push(name);
      }
    }
    return found;
  }
}

function stateOf(folder: string): { readonly seen: string; readonly settled: boolean } {
  const stats = look(() => statSync(folder, { throwIfNoEntry: false }));
  if (stats === undefined) return { seen: "", settled: true };
  return {
    seen: `${stats.dev}:${stats.ino}:${stats.mtimeMs}`,
    settled: Date.now() - stats.mtimeMs > SETTLED_MS,
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
