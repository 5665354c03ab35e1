import { join } from "node:path";
import type { CallContext } from "../../../tool/tool.js";
import { runLines } from "./run-lines.js";
import { comparePaths, type SearchRoot } from "./types.js";

/** So few are asked for one by one. */
const FEW = 500;
const AT_A_TIME = 64;

/** Paths of this machine, newest first; equal times by name. */
export async function newestFirst(
  paths: readonly string[],
  root: SearchRoot,
  ctx: CallContext,
): Promise<string[]> {
  const times =
    (paths.length > FEW ? await timesByProgram(paths, root, ctx) : undefined) ??
    (await timesOneByOne(paths, root, ctx));
  return paths.toSorted(
    (left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0) || comparePaths(left, right),
  );
}

type Times = ReadonlyMap<string, number>;

/** Undefined where the programs are missing or of another make (macOS). */
async function timesByProgram(
  paths: readonly string[],
  root: SearchRoot,
  ctx: CallContext,
): Promise<Times | undefined> {
  const times = new Map<string, number>();
  const result = await runLines({
    command: ["xargs", "-0", "stat", "--printf", "%.9Y %n\\0", "--"],
    stdin: paths.map((path) => `./${path}\0`).join(""),
    cwd: root.folder,
    separator: "\0",
    ctx,
    onRecord: (record) => {
      const blank = record.indexOf(" ");
      times.set(record.slice(blank + 3), Number(record.slice(0, blank)));
      return true;
    },
  });
  // A file that has just gone fails the program and spoils nothing.
  return result.exitCode === 0 || times.size > paths.length / 2 ? times : undefined;
}

async function timesOneByOne(paths: readonly string[], root: SearchRoot, ctx: CallContext): Promise<Times> {
  const times = new Map<string, number>();
  for (let start = 0; start < paths.length; start += AT_A_TIME) {
    ctx.signal.throwIfAborted();
    await Promise.all(
      paths.slice(start, start + AT_A_TIME).map(async (path) => {
        const stat = await ctx.environment.files.stat(join(root.folder, path)).catch(() => undefined);
        times.set(path, stat?.mtimeMs ?? 0);
      }),
    );
  }
  return times;
}
