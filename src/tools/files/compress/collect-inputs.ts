import { basename, join, relative } from "node:path/posix";
import { isAtOrBelow } from "../../../base/path.js";
import type { FileStat } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { isSecretFile, refuseDevice } from "../path-guard.js";
import { locate } from "../paths.js";
import { globMatcher } from "../search/globs.js";
import { MAX_ENTRIES, MAX_PACKED_BYTES } from "./limits.js";

/** Something to be packed. */
export interface Member {
  /** In the archive; folders without a slash at the end. */
  readonly name: string;
  readonly type: "file" | "directory";
  readonly real: string;
  readonly stat: FileStat;
}

export interface Inputs {
  readonly members: readonly Member[];
  readonly bytes: number;
  /** What was left out, and why. */
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

interface Collecting {
  readonly members: Map<string, Member>;
  readonly skipped: { path: string; why: string }[];
  readonly excluded: (path: string) => boolean;
  /** The archive that is being made must not swallow itself. */
  readonly archive: string;
  readonly ctx: CallContext;
  bytes: number;
}

/**
 * All files and folders below the given ones. Names in the archive begin at the working folder, or with the last
 * part of what lies elsewhere. Links below are left out: the archive could not be unpacked safely with them.
 */
export async function collectInputs(request: {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  readonly archive: string;
  readonly ctx: CallContext;
}): Promise<Inputs> {
  const { ctx } = request;
  const globs = await Promise.all(request.exclude.map((glob) => globMatcher(glob)));
  const collecting: Collecting = {
    members: new Map(),
    skipped: [],
    excluded: (path) => globs.some((matches) => matches(path)),
    archive: request.archive,
    ctx,
    bytes: 0,
  };
  const cwd = await ctx.environment.files.realpath(ctx.session.cwd);
  for (const path of request.paths) {
    const location = await locate(path, ctx);
    refuseDevice(location);
    const stat = await ctx.environment.files.stat(location.real);
    if (stat === undefined || stat.type === "symlink") {
      throw new ToolError(`${location.path} does not exist.`, {
        hint: "Look for it with directory_list or search_files.",
        details: { path: location.path },
      });
    }
    if (stat.type === "other") throw notPackable(location.path);
    const name = isAtOrBelow(location.path, ctx.session.cwd)
      ? relative(ctx.session.cwd, location.path)
      : isAtOrBelow(location.real, cwd)
        ? relative(cwd, location.real)
        : basename(location.path);
    await collect({ name, real: location.real, stat }, collecting);
  }
  return { members: [...collecting.members.values()], bytes: collecting.bytes, skipped: collecting.skipped };
}

async function collect(
  found: { readonly name: string; readonly real: string; readonly stat: FileStat },
  collecting: Collecting,
): Promise<void> {
  const { ctx, members } = collecting;
  const folders = [found];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { name, real, stat } = next;
    ctx.signal.throwIfAborted();
    if (stat.type === "file") {
      add({ name, type: "file", real, stat }, collecting);
      continue;
    }
    if (name !== "") add({ name, type: "directory", real, stat }, collecting);
    const below: (typeof found)[] = [];
    for (const entry of await ctx.environment.files.list(real)) {
      const path = join(real, entry.name);
      const why = reasonToSkip(
        { path, name: join(name, entry.name), type: entry.type },
        { ...collecting, root: found.real },
      );
      if (why !== undefined) {
        if (why !== "") collecting.skipped.push({ path, why });
        continue;
      }
      const known = await ctx.environment.files.stat(path);
      if (known !== undefined) below.push({ name: join(name, entry.name), real: path, stat: known });
    }
    folders.push(...below.reverse());
  }
  if (members.size === 0 && found.stat.type === "file") throw notPackable(found.real);
}

/** Empty when there is nothing to tell about it. */
function reasonToSkip(
  entry: { readonly path: string; readonly name: string; readonly type: FileStat["type"] },
  { archive, excluded, root, ctx }: Collecting & { readonly root: string },
): string | undefined {
  if (entry.path === archive || excluded(entry.name)) return "";
  if (entry.type === "symlink") return "a link";
  if (entry.type === "other") return "a device, pipe or socket";
  if (entry.type === "file" && isSecretFile(entry.path, { root, ctx }))
    return "holds credentials; name it to be asked about it";
  return undefined;
}

function add(member: Member, collecting: Collecting): void {
  if (member.real === collecting.archive || collecting.members.has(member.name)) return;
  collecting.members.set(member.name, member);
  if (member.type === "file") collecting.bytes += member.stat.size;
  if (collecting.members.size > MAX_ENTRIES || collecting.bytes > MAX_PACKED_BYTES) {
    throw new ToolError(
      `This is too much for one archive: at most ${MAX_ENTRIES.toLocaleString("en")} entries and ${MAX_PACKED_BYTES / 1024 ** 2} MiB.`,
      { hint: "Pack fewer folders, leave some out with exclude, or use tar in the terminal." },
    );
  }
}

function notPackable(path: string): ToolError {
  return new ToolError(`${path} cannot be packed.`, {
    code: "invalid_arguments",
    hint: "Name regular files and folders other than the archive itself.",
    details: { path },
  });
}
