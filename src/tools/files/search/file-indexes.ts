import type { CallContext, Kept } from "../../../tool/tool.js";
import { PathIndex } from "./fuzzy/path-index.js";

/** How long a list of files is believed: long enough for a series of questions, too short to miss much. */
const FRESH_MS = 5000;
const MAX_INDEXES = 3;
/** After any other tool of the session the files may be different ones. */
const READERS: ReadonlySet<string> = new Set(["read_file", "search_files"]);

/** The files of a folder prepared for fuzzy finding, for a few seconds. */
export class FileIndexes implements Kept {
  readonly #known = new Map<string, { readonly index: Promise<PathIndex>; readonly timer: NodeJS.Timeout }>();

  async indexOf(
    folder: string,
    list: () => Promise<readonly string[]>,
    { previousTool }: CallContext["session"],
  ): Promise<PathIndex> {
    if (previousTool !== undefined && !READERS.has(previousTool)) this.close();
    const known = this.#known.get(folder);
    // Whoever began the list may have been stopped; that must not stop this call too.
    return (await known?.index.catch(() => undefined)) ?? (await this.#make(folder, list));
  }

  async #make(folder: string, list: () => Promise<readonly string[]>): Promise<PathIndex> {
    this.#forget(folder);
    for (const oldest of this.#known.keys()) if (this.#known.size >= MAX_INDEXES) this.#forget(oldest);
    const index = list().then((paths) => new PathIndex(paths));
    const timer = setTimeout(() => this.#forget(folder), FRESH_MS).unref();
    this.#known.set(folder, { index, timer });
    index.catch(() => this.#forget(folder));
    return await index;
  }

  #forget(folder: string): void {
    clearTimeout(this.#known.get(folder)?.timer);
    this.#known.delete(folder);
  }

  close(): void {
    for (const folder of this.#known.keys()) this.#forget(folder);
  }
}
