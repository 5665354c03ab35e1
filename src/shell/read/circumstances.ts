import type { ShellWord } from "../types.js";
import { askFor, type Context } from "./context.js";

/** What a shell has one of at a time. Where a part of the line ran only perhaps, there are several candidates. */
export interface Circumstances {
  /** Where `cd` may have gone; undefined stands for the folder the line starts in, or one nobody knows. */
  readonly folders: readonly (string | undefined)[];
  /** Words of `$1`, `$2` …; undefined when nobody knows them. */
  readonly positionals: readonly Positional[];
}

export type Positional = readonly ShellWord[] | undefined;

/** More candidates are stood for by the most telling ones. */
const MOST_CANDIDATES = 12;
/** No system enters a folder whose path is longer. */
const LONGEST_PATH = 4_096;

/** Any of these may be in force. */
export function anyOf([first, ...others]: readonly [Circumstances, ...Circumstances[]]): Circumstances {
  return others.reduce((one, other) => {
    if (one === other) return one;
    const { folders, positionals } = one;
    return {
      folders: folders === other.folders ? folders : differentFolders([...folders, ...other.folders]),
      positionals:
        positionals === other.positionals
          ? positionals
          : differentPositionals([...positionals, ...other.positionals]),
    };
  }, first);
}

/** Where a command runs, of all the folders it may run in the one that is tried now. */
export function folderOf({ state, run }: Context): string | undefined {
  const { folders } = state.circumstances;
  if (folders.length > 1) askFor(run.choice, "cd ", folders.length);
  return folders[run.choice.picked.get("cd ") ?? 0];
}

/** The words behind `$1`, `$2` …, of all that there may be those that are tried now. */
export function positionalOf({ state, run }: Context): Positional {
  const { positionals } = state.circumstances;
  if (positionals.length > 1) askFor(run.choice, "@", positionals.length);
  return positionals[run.choice.picked.get("@") ?? 0];
}

export function differentFolders(paths: readonly (string | undefined)[]): readonly (string | undefined)[] {
  const all = [...new Set(paths.map(bounded))];
  if (all.length <= MOST_CANDIDATES) return all;
  // The nearer to the root, the more there is to lose.
  return all.sort((one = "", other = "") => one.length - other.length).slice(0, MOST_CANDIDATES);
}

function differentPositionals(all: readonly Positional[]): readonly Positional[] {
  const different = new Map<string | undefined, Positional>();
  for (const words of all) different.set(words?.map(({ text }) => text).join("\0"), words);
  const kept = [...different.values()];
  return kept.length > MOST_CANDIDATES ? [...kept.slice(0, MOST_CANDIDATES), undefined] : kept;
}

function bounded(path: string | undefined): string | undefined {
  const short = path !== undefined && path.length > LONGEST_PATH ? shortened(path) : path;
  return short !== undefined && short.length > LONGEST_PATH ? undefined : short;
}

/** The path without `.`, doubled slashes and ways there and back. */
function shortened(path: string): string {
  const kept: string[] = [];
  for (const [index, segment] of path.split("/").entries()) {
    if (index > 0 && (segment === "" || segment === ".")) continue;
    const last = kept.at(-1);
    if (segment !== ".." || last === undefined || last === "..") kept.push(segment);
    else if (kept.length > 1) kept.pop();
    // Above the root is the root; above `~` is a place nobody knows by name.
    else if (last !== "") kept.push(segment);
  }
  return kept.length === 1 && kept[0] === "" ? "/" : kept.join("/");
}
