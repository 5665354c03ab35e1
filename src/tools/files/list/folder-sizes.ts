import { join } from "node:path/posix";
import type { CallContext } from "../../../tool/tool.js";
import { inParallel } from "./in-parallel.js";
import { looksAtOnce } from "./walk.js";

/** Files looked at in all; each one elsewhere is a round trip. */
const MAX_FILES = { here: 200_000, elsewhere: 4_000 };

export interface FolderSize {
  readonly bytes: number;
  readonly files: number;
  /** False when there was more than could be looked at. */
  readonly complete: boolean;
}

/** What all files below each folder take, added up; links count nothing. */
export async function folderSizes(
  folders: readonly string[],
  ctx: CallContext,
): Promise<ReadonlyMap<string, FolderSize>> {
  const budget = { left: MAX_FILES[ctx.environment.kind === "local" ? "here" : "elsewhere"] };
  const sizes = new Map<string, FolderSize>();
  // The deepest first: what is known of a folder below need not be looked at again.
  const deepestFirst = folders.toSorted((left, right) => right.split("/").length - left.split("/").length);
  for (const folder of deepestFirst) sizes.set(folder, await sizeOf(folder, { known: sizes, budget, ctx }));
  return sizes;
}

async function sizeOf(
  folder: string,
  shared: {
    readonly known: ReadonlyMap<string, FolderSize>;
    readonly budget: { left: number };
    readonly ctx: CallContext;
  },
): Promise<FolderSize> {
  const { known, budget, ctx } = shared;
  const { files } = ctx.environment;
  const sum = { bytes: 0, files: 0, complete: true };
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const current = next;
    ctx.signal.throwIfAborted();
    if (budget.left <= 0) return { ...sum, complete: false };
    const entries = await files.list(current, { details: true }).catch(() => undefined);
    if (entries === undefined) sum.complete = false;
    budget.left -= entries?.length ?? 0;
    for (const { name, type } of entries ?? []) {
      if (type !== "directory") continue;
      const below = known.get(join(current, name));
      if (below === undefined) folders.push(join(current, name));
      else {
        sum.bytes += below.bytes;
        sum.files += below.files;
        sum.complete &&= below.complete;
      }
    }
    const names = (entries ?? []).filter(({ type }) => type === "file");
    await inParallel(names, looksAtOnce(ctx), async ({ name, stat: known }) => {
      const stat = known ?? (await files.stat(join(current, name)).catch(() => undefined));
      sum.bytes += stat?.size ?? 0;
      sum.files += 1;
    });
  }
  return sum;
}
