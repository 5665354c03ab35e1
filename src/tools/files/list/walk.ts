import { join } from "node:path/posix";
import type { FileStat } from "../../../env/environment.js";
import type { CallContext } from "../../../tool/tool.js";
import type { IgnoreRules } from "./ignore-rules.js";
import { inParallel } from "./in-parallel.js";

/** Entries looked at in all; a search for a rare name in a huge tree ends here. */
const MAX_SEEN = 200_000;
/** Each question elsewhere is a program there and a connection here. */
const FOLDERS_AT_ONCE = { here: 16, elsewhere: 4 };
const LOOKS_AT_ONCE = { here: 32, elsewhere: 4 };

/** How many files may be looked at side by side. */
export function looksAtOnce({ environment }: CallContext): number {
  return LOOKS_AT_ONCE[environment.kind === "local" ? "here" : "elsewhere"];
}

export type SortKey = "name" | "size" | "mtime";

export interface Found {
  /** Relative to the folder that is listed, with slashes. */
  readonly path: string;
  readonly type: FileStat["type"];
  readonly ignored: boolean;
  /** Real path of what a link leads to, where the listing told it. */
  readonly target?: string | undefined;
  stat?: FileStat | undefined;
}

export interface WalkRequest {
  /** A real path. */
  readonly root: string;
  readonly depth: number;
  readonly limit: number;
  readonly sort: SortKey;
  readonly showHidden: boolean;
  readonly showIgnored: boolean;
  readonly rules: IgnoreRules;
  /** Which paths are listed; folders are walked through whether or not they are. */
  matches(path: string): boolean;
  readonly ctx: CallContext;
}

export interface Walked {
  readonly entries: readonly Found[];
  /** Everything that would be listed, as far as it was looked for. */
  readonly total: number;
  /** False when folders were left unvisited because enough was found. */
  readonly complete: boolean;
  readonly hidden: number;
  readonly ignored: number;
  /** Folders that could not be read. */
  readonly unreadable: readonly string[];
}

interface Folder {
  readonly path: string;
  readonly rules: IgnoreRules;
}

/**
 * Level by level, so that a limit cuts off what is deep and not what is late in the alphabet. Links are listed
 * and never followed.
 */
export async function walk(request: WalkRequest): Promise<Walked> {
  const { ctx, limit } = request;
  const state = {
    entries: [] as Found[],
    total: 0,
    seen: 0,
    hidden: 0,
    ignored: 0,
    unreadable: [] as string[],
  };
  const atOnce = FOLDERS_AT_ONCE[ctx.environment.kind === "local" ? "here" : "elsewhere"];
  let level: Folder[] = [{ path: "", rules: request.rules }];
  for (let depth = 1; depth <= request.depth && level.length > 0; depth++) {
    const below: Folder[] = [];
    for (let at = 0; at < level.length; at += atOnce) {
      ctx.signal.throwIfAborted();
      if (state.entries.length >= limit || state.seen >= MAX_SEEN) return { ...state, complete: false };
      const folders = level.slice(at, at + atOnce);
      for (const listed of await Promise.all(folders.map((folder) => listFolder(folder, request)))) {
        if (listed.unreadable) state.unreadable.push(listed.folder.path);
        state.seen += listed.seen;
        state.hidden += listed.hidden;
        state.ignored += listed.ignored;
        for (const found of listed.found) {
          if (found.type === "directory") below.push({ path: found.path, rules: listed.folder.rules });
          if (!request.matches(found.path)) continue;
          state.total++;
          if (state.entries.length < limit) state.entries.push(found);
        }
      }
    }
    level = below;
  }
  return { ...state, complete: true };
}

interface ListedFolder {
  readonly folder: Folder;
  readonly found: readonly Found[];
  readonly seen: number;
  readonly hidden: number;
  readonly ignored: number;
  readonly unreadable: boolean;
}

async function listFolder(given: Folder, request: WalkRequest): Promise<ListedFolder> {
  const { ctx, root } = request;
  const absolute = join(root, given.path);
  const entries = await ctx.environment.files.list(absolute, { details: true }).catch((error: unknown) => {
    // The folder that was asked for must be there; one below may be closed, or gone since.
    if (given.path === "") throw error;
    return undefined;
  });
  if (entries === undefined) {
    return { folder: given, found: [], seen: 0, hidden: 0, ignored: 0, unreadable: true };
  }
  const hasRules = entries.some(({ name, type }) => name === ".gitignore" && type === "file");
  const rules = hasRules ? await given.rules.with(absolute, ".gitignore", ctx) : given.rules;
  // Names as the folder has them need no cleaning up, which costs more than all the rest.
  const before = given.path === "" ? "" : `${given.path}/`;
  const beforeAbsolute = absolute === "/" ? absolute : `${absolute}/`;
  const found: Found[] = [];
  let hidden = 0;
  let ignored = 0;
  for (const { name, type, stat, target } of entries) {
    const isFolder = type === "directory";
    const isIgnored = name === ".git" || rules.ignores(`${beforeAbsolute}${name}`, isFolder);
    if (isIgnored && !request.showIgnored) ignored++;
    else if (name.startsWith(".") && !request.showHidden) hidden++;
    else found.push({ path: `${before}${name}`, type, ignored: isIgnored, stat, target });
  }
  if (request.sort !== "name") await addStats(found, request);
  return {
    folder: { path: given.path, rules },
    found: found.sort(order(request.sort)),
    seen: entries.length,
    hidden,
    ignored,
    unreadable: false,
  };
}

/** Links are not followed, so nothing is known of them but that they are links. */
export async function addStats(found: readonly Found[], { root, ctx }: WalkRequest): Promise<void> {
  const missing = found.filter((entry) => entry.stat === undefined && entry.type !== "symlink");
  await inParallel(missing, looksAtOnce(ctx), async (entry) => {
    ctx.signal.throwIfAborted();
    entry.stat = await ctx.environment.files.stat(join(root, entry.path)).catch(() => undefined);
  });
}

export function order(sort: SortKey): (left: Found, right: Found) => number {
  const byName = (left: Found, right: Found) => (left.path < right.path ? -1 : 1);
  if (sort === "size") {
    return (left, right) => (right.stat?.size ?? -1) - (left.stat?.size ?? -1) || byName(left, right);
  }
  if (sort === "mtime") {
    return (left, right) => (right.stat?.mtimeMs ?? -1) - (left.stat?.mtimeMs ?? -1) || byName(left, right);
  }
  return (left, right) =>
    Number(right.type === "directory") - Number(left.type === "directory") || byName(left, right);
}
