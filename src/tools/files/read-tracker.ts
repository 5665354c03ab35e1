import { LruMap } from "../../base/lru.js";
import type { FileStat } from "../../env/environment.js";
import type { CallContext, Kept } from "../../tool/tool.js";

/** A long session must not grow for ever. */
const MAX_REMEMBERED = 2000;

/** What one session has seen of its files: enough to spot repeated reads and edits of stale text. */
export class ReadTracker implements Kept {
  readonly #regions = new LruMap<string, { readonly hash: string; hits: number }>(MAX_REMEMBERED);
  readonly #seen = new LruMap<string, string>(MAX_REMEMBERED);
  readonly #patchFailures = new LruMap<string, number>(MAX_REMEMBERED);
  #lastSearch: { readonly key: string; readonly hash: string; count: number } | undefined;

  /**
   * How often in a row this region has now been read with the same content, starting at 1. Forgotten as
   * soon as the content differs.
   */
  countRead(region: { readonly file: string; readonly range: string; readonly hash: string }): number {
    this.#lastSearch = undefined;
    const key = `${region.file}\0${region.range}`;
    const known = this.#regions.get(key);
    if (known?.hash === region.hash) return ++known.hits;
    this.#regions.set(key, { hash: region.hash, hits: 1 });
    return 1;
  }

  countSearch(key: string, hash: string): number {
    if (this.#lastSearch?.key === key && this.#lastSearch.hash === hash) return ++this.#lastSearch.count;
    this.#lastSearch = { key, hash, count: 1 };
    return 1;
  }

  /** Another tool ran in between: repeating a read or search is no loop any more. */
  noteOtherTool(): void {
    this.#lastSearch = undefined;
    for (const region of this.#regions.values()) region.hits = Math.min(region.hits, 1);
  }

  noteSeen(file: string, stat: FileStat): void {
    this.#seen.set(file, fingerprint(stat));
  }

  changedSinceSeen(file: string, stat: FileStat | undefined): boolean {
    const known = this.#seen.get(file);
    return known !== undefined && known !== (stat === undefined ? "gone" : fingerprint(stat));
  }

  /** This session wrote the file: earlier reads say nothing about it any more. */
  noteWritten(file: string, stat: FileStat | undefined): void {
    this.noteOtherTool();
    this.#patchFailures.delete(file);
    for (const key of this.#regions.keys()) if (key.startsWith(`${file}\0`)) this.#regions.delete(key);
    if (stat === undefined) this.#seen.delete(file);
    else this.noteSeen(file, stat);
  }

  /** How many patches of this file have now failed in a row. */
  countPatchFailure(file: string): number {
    this.noteOtherTool();
    const count = (this.#patchFailures.get(file) ?? 0) + 1;
    this.#patchFailures.set(file, count);
    return count;
  }

  /** Nothing outlives the session. */
  close(): void {}
}

/** Reading and searching again after one of these is still the same loop. */
const READERS: ReadonlySet<string> = new Set(["read_file", "search_files"]);

export function trackerOf(ctx: Pick<CallContext, "keep" | "session">): ReadTracker {
  const tracker = ctx.keep(ReadTracker);
  const { previousTool } = ctx.session;
  if (previousTool !== undefined && !READERS.has(previousTool)) tracker.noteOtherTool();
  return tracker;
}

/** Programs may read the same thing as often as they like: for them every read is the first. */
export function isCounted({ session }: Pick<CallContext, "session">): boolean {
  return session.guarded !== false;
}

function fingerprint(stat: FileStat): string {
  return `${stat.inode}:${stat.size}:${stat.mtimeMs}`;
}
