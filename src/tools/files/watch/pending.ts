import type { FileChange } from "../../../env/environment.js";

export interface WatchEvent {
  readonly path: string;
  readonly change: FileChange["change"];
  /** When it was last seen, ISO 8601. */
  readonly at: string;
}

/** Paths remembered between two looks; of more, only the number. */
const MAX_PENDING = 1_000;

/**
 * Changes nobody has been told of yet, one per path however often it changed: a file that is replaced by renaming
 * another over it has changed, and one that came and went is not worth a word.
 */
export class PendingChanges {
  readonly #changes = new Map<string, WatchEvent>();
  #dropped = 0;

  get size(): number {
    return this.#changes.size;
  }

  get dropped(): number {
    return this.#dropped;
  }

  add({ path, change }: FileChange): void {
    const together = combined(this.#changes.get(path)?.change, change);
    this.#changes.delete(path);
    if (together === undefined) return;
    if (this.#changes.size >= MAX_PENDING) this.#dropped++;
    else this.#changes.set(path, { path, change: together, at: new Date().toISOString() });
  }

  /** In the order in which they were last seen; what is taken is forgotten. */
  take(filter: (event: WatchEvent) => boolean, most: number): WatchEvent[] {
    const taken: WatchEvent[] = [];
    for (const event of [...this.#changes.values()]) {
      if (taken.length >= most) break;
      this.#changes.delete(event.path);
      if (filter(event)) taken.push(event);
    }
    if (this.#changes.size === 0) this.#dropped = 0;
    return taken;
  }

  count(filter: (event: WatchEvent) => boolean): number {
    let count = 0;
    for (const event of this.#changes.values()) if (filter(event)) count++;
    return count;
  }
}

function combined(
  before: FileChange["change"] | undefined,
  now: FileChange["change"],
): FileChange["change"] | undefined {
  if (before === "created") return now === "removed" ? undefined : "created";
  if (before === "removed" && now === "created") return "changed";
  return now;
}
