import { join } from "node:path/posix";
import type { FileStat } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isSecretFile } from "../path-guard.js";
import { globMatcher } from "../search/globs.js";
import { compareSides, MAX_TEXT_BYTES } from "./compare.js";
import { sameBytes } from "./same-bytes.js";
import type { DiffOptions, FileDiff } from "./types.js";

const MAX_FILES = 10_000;

interface Found {
  readonly real: string;
  readonly type: FileStat["type"];
}

/** Every file below two real folders. Links are compared by what they are, never followed; .git is passed over. */
export async function compareFolders(request: {
  readonly before: string;
  readonly after: string;
  readonly exclude: readonly string[];
  readonly options: DiffOptions;
  readonly ctx: CallContext;
}): Promise<readonly FileDiff[]> {
  const { ctx } = request;
  const globs = await Promise.all(request.exclude.map((glob) => globMatcher(glob)));
  const excluded = (path: string) => globs.some((matches) => matches(path));
  const old = await filesBelow(request.before, { excluded, ctx });
  const now = await filesBelow(request.after, { excluded, ctx });
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  const found: FileDiff[] = [];
  for (const [index, path] of paths.entries()) {
    ctx.signal.throwIfAborted();
    ctx.progress({ message: path, fraction: index / paths.length });
    const diff = await compareFound(path, {
      before: old.get(path),
      after: now.get(path),
      options: request.options,
      ctx,
    });
    if (diff.status !== "identical") found.push(diff);
  }
  return found;
}

async function filesBelow(
  root: string,
  { excluded, ctx }: { excluded: (path: string) => boolean; ctx: CallContext },
): Promise<Map<string, Found>> {
  const files = new Map<string, Found>();
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    ctx.signal.throwIfAborted();
    for (const { name, type } of await ctx.environment.files.list(join(root, folder))) {
      const path = join(folder, name);
      if (name === ".git" || excluded(path)) continue;
      if (type === "directory") folders.push(path);
      else files.set(path, { real: join(root, path), type });
      if (files.size > MAX_FILES) {
        throw new ToolError(`${root} holds more than ${MAX_FILES.toLocaleString("en")} files.`, {
          hint: "Compare folders below it, or leave some out with exclude (for example node_modules).",
        });
      }
    }
  }
  return files;
}

async function compareFound(
  path: string,
  pair: {
    readonly before: Found | undefined;
    readonly after: Found | undefined;
    readonly options: DiffOptions;
    readonly ctx: CallContext;
  },
): Promise<FileDiff> {
  const { before, after, ctx, options } = pair;
  const status = before === undefined ? "added" : after === undefined ? "removed" : "modified";
  const nothing = { path, added: 0, removed: 0, hunks: [] } as const;
  const kinds = [before, after].flatMap((one) => (one === undefined ? [] : [one.type]));
  if (kinds.some((kind) => kind !== "file")) {
    return kinds.length === 2 && kinds[0] === kinds[1]
      ? linkDiff(path, { before, after, ctx })
      : {
          ...nothing,
          status,
          note: `${kinds.map((kind) => (kind === "symlink" ? "link" : kind)).join(", then ")}`,
        };
  }
  const stat = async (one: Found | undefined) =>
    one === undefined ? undefined : ctx.environment.files.stat(one.real);
  const [oldStat, newStat] = [await stat(before), await stat(after)];
  const large = Math.max(oldStat?.size ?? 0, newStat?.size ?? 0) > MAX_TEXT_BYTES;
  const secret = [before, after].some(
    (one) => one !== undefined && isSecretFile(one.real, { root: rootOf(one, path), ctx }),
  );
  if (large || secret) {
    const same =
      before !== undefined &&
      after !== undefined &&
      oldStat?.size === newStat?.size &&
      (await sameBytes(before.real, after.real, ctx));
    if (same) return { ...nothing, status: "identical" };
    return {
      ...nothing,
      status,
      note: secret ? "holds credentials, not shown" : "too large to compare line by line",
    };
  }
  const side = async (one: Found | undefined) => ({
    label: path,
    bytes: one === undefined ? undefined : await ctx.environment.files.read(one.real),
  });
  return compareSides(path, {
    before: await side(before),
    after: await side(after),
    options,
    signal: ctx.signal,
  });
}

async function linkDiff(
  path: string,
  { before, after, ctx }: { before: Found | undefined; after: Found | undefined; ctx: CallContext },
): Promise<FileDiff> {
  const target = (one: Found | undefined) =>
    ctx.environment.files.realpath(one?.real ?? "/").catch(() => "?");
  const [old, now] = [await target(before), await target(after)];
  const nothing = { path, added: 0, removed: 0, hunks: [] } as const;
  // Two links may lead to the same place by name, each in its own folder.
  const relative = (place: string, found: Found | undefined) =>
    place.startsWith(rootOf(found, path)) ? place.slice(rootOf(found, path).length) : place;
  if (relative(old, before) === relative(now, after)) return { ...nothing, status: "identical" };
  return { ...nothing, status: "modified", note: `link to ${old}, then to ${now}` };
}

function rootOf(found: Found | undefined, path: string): string {
  return (found?.real ?? "").slice(0, -path.length);
}
