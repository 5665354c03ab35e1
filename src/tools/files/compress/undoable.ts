import { dirname } from "node:path/posix";
import { isAtOrBelow } from "../../../base/path.js";
import type { CallContext } from "../../../tool/tool.js";
import { trackerOf } from "../read-tracker.js";

interface Written {
  readonly path: string;
  /** What was there before; undefined when nothing was. */
  readonly before: { readonly data: Uint8Array; readonly mode: number } | undefined;
}

/** Files written together: when one of them fails, the others go back to what they were. */
export class Undoable {
  readonly #folder: string;
  readonly #ctx: CallContext;
  readonly #written: Written[] = [];
  /** Folders that were not there before. */
  readonly #made = new Set<string>();
  readonly #known = new Map<string, Promise<void>>();

  constructor(folder: string, ctx: CallContext) {
    this.#folder = folder;
    this.#ctx = ctx;
  }

  async write(file: {
    readonly path: string;
    readonly data: Uint8Array;
    readonly existed: boolean;
    readonly mode?: number;
  }): Promise<void> {
    const { files } = this.#ctx.environment;
    const { path, data, existed, mode } = file;
    this.#ctx.signal.throwIfAborted();
    const stat = existed ? await files.stat(path) : undefined;
    const before = stat === undefined ? undefined : { data: await files.read(path), mode: stat.mode };
    await this.#noteFolders(dirname(path));
    await files.write(path, data, {
      ...(before === undefined && { expected: { sha256: undefined } }),
      ...(mode !== undefined && { mode }),
    });
    this.#written.push({ path, before });
    trackerOf(this.#ctx).noteWritten(path, undefined);
  }

  /** Puts everything back; answers with what could not be. */
  async takeBack(): Promise<readonly string[]> {
    const { files } = this.#ctx.environment;
    const left: string[] = [];
    for (const { path, before } of this.#written.splice(0).reverse()) {
      try {
        if (before !== undefined) await files.write(path, before.data, { mode: before.mode });
        else if ((await files.stat(path)) !== undefined) await files.remove(path);
      } catch {
        left.push(path);
      }
    }
    const deepestFirst = [...this.#made].sort((one, other) => other.length - one.length);
    // One that is not empty any more belongs to somebody else by now.
    for (const folder of deepestFirst) await files.remove(folder).catch(() => undefined);
    return left;
  }

  /** Folders are looked at once, before the first write in them makes them. */
  #noteFolders(folder: string): Promise<void> {
    let known = this.#known.get(folder);
    if (known === undefined) {
      known = this.#noteFolder(folder);
      this.#known.set(folder, known);
    }
    return known;
  }

  async #noteFolder(folder: string): Promise<void> {
    if ((await this.#ctx.environment.files.stat(folder)) !== undefined) return;
    const above = dirname(folder);
    if (above !== folder && (isAtOrBelow(folder, this.#folder) || isAtOrBelow(this.#folder, folder))) {
      await this.#noteFolders(above);
    }
    this.#made.add(folder);
  }
}
