import type { ShellWord, SimpleCommand } from "../types.js";
import { askFor, type Context } from "./context.js";
import type { ShellState } from "./state.js";

/**
 * A part of the line that may also not run. What is set in it is set there and in the parts inside it; outside
 * of it nobody knows.
 */
export interface Branch {
  readonly outer: Branch | undefined;
  /** The shell it belongs to: a subshell inside it can neither set anything in it nor leave it. */
  readonly state: ShellState;
  /** Function calls around it. */
  readonly calls: number;
  /** What `break` or `return` leaves as a whole. */
  readonly kind: "part" | "loop" | "call";
  /** Variables and functions that were set in it. */
  readonly names: Set<string>;
  /** True when whatever follows it does not run after it: it ends with `exit`, `return`, `break`. */
  left: boolean;
  /** What was set before the first `break`, `continue` or `return` that may leave out the rest of it. */
  sure: ReadonlySet<string> | undefined;
  /** How things stood at each of those. */
  exits: readonly ShellPosition[];
}

export function branchInside(
  { branch, state, calls }: Pick<Context, "branch" | "state" | "calls">,
  kind: Branch["kind"] = "part",
): Branch {
  return {
    outer: branch,
    state,
    calls: calls.length,
    kind,
    names: new Set(),
    left: false,
    sure: undefined,
    exits: [],
  };
}

/** The same circumstances in a part that may also not run. */
export function perhaps(context: Context, branch: Branch = branchInside(context)): Context {
  return { ...context, certain: false, branch };
}

/** True when one of the places is this branch or around it. */
export function isInside(branch: Branch | undefined, places: ReadonlySet<Branch>): boolean {
  if (places.size === 0) return false;
  for (let at = branch; at !== undefined; at = at.outer) if (places.has(at)) return true;
  return false;
}

/** One of these branches runs: what all of them set is set in what surrounds them. */
export function joinBranches(branches: readonly (Branch | undefined)[], context: Context): void {
  for (const name of commonNames(branches, context)) context.state.cover(name, context.branch);
}

/** A loop or function that certainly ran: what it set before anything could leave it is set around it. */
export function joinWhole(whole: Branch, context: Context): void {
  for (const name of whole.sure ?? whole.names)
    if (context.state.isCovered(name, whole)) context.state.cover(name, context.branch);
}

/** Where either of two branches has run: what both of them set is set there. */
export function eitherBranch(
  one: Branch | undefined,
  other: Branch | undefined,
  context: Context,
): Branch | undefined {
  if (one === context.branch || other === context.branch) return context.branch;
  const either = branchInside(context);
  for (const name of commonNames([one, other], context)) context.state.cover(name, either);
  either.left = one?.left === true && other?.left === true;
  return either;
}

function commonNames(branches: readonly (Branch | undefined)[], { state, branch }: Context): Set<string> {
  // Nothing comes after a branch that was left, so it need not set anything.
  const [first, ...others] = branches.filter((one) => one?.left !== true);
  const names = new Set<string>();
  for (let at = first; at !== undefined && at !== branch; at = at.outer) {
    for (const name of at.names) {
      if (state.isCovered(name, first) && others.every((other) => state.isCovered(name, other)))
        names.add(name);
    }
  }
  return names;
}

/** `exit`, `return`, `break`, `continue` at the end of a branch. */
export function leaveBranch(command: SimpleCommand, { branch, state, calls, run }: Context): void {
  const { program } = command;
  if (branch === undefined || branch.state !== state || !LEAVING.has(program)) return;
  let left: Branch | undefined;
  if (program !== "exit") {
    const kind = program === "return" ? "call" : "loop";
    for (
      let at: Branch | undefined = branch;
      at?.state === state && at.calls === calls.length;
      at = at.outer
    ) {
      at.sure ??= new Set(at.names);
      left = at;
      if (at.kind === kind) break;
    }
    // Outside of functions and loops they do nothing.
    if (left?.kind !== kind) return;
    left.exits = [anyOf([state.position, ...left.exits])];
  }
  const isOneOfSeveral = run.choice.asked !== undefined || run.choice.picked.size > 0;
  const hasOtherMeaning = state.functionsOf(program).length > 0 || state.aliases.get(program) !== undefined;
  if (!isOneOfSeveral && !hasOtherMeaning && !mayFail(command)) branch.left = true;
}

const LEAVING: ReadonlySet<string> = new Set(["exit", "return", "break", "continue"]);

/** With a file that cannot be opened, or words it does not take, it does not leave. */
function mayFail({ program, args, redirects, assignments }: SimpleCommand): boolean {
  const [count] = args;
  return (
    args.length > 1 ||
    redirects.length + assignments.length > 0 ||
    (count !== undefined && /^(?:break|continue)$/.test(program) && !/^[1-9]\d*$/.test(count.text))
  );
}

/** What a shell has one of at a time. Where a part of the line ran only perhaps, there are several candidates. */
export interface ShellPosition {
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
export function anyOf([first, ...others]: readonly [ShellPosition, ...ShellPosition[]]): ShellPosition {
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
  const { folders } = state.position;
  if (folders.length > 1) askFor(run.choice, "cd ", folders.length);
  return folders[run.choice.picked.get("cd ") ?? 0];
}

/** The words behind `$1`, `$2` …, of all that there may be those that are tried now. */
export function positionalOf({ state, run }: Context): Positional {
  const { positionals } = state.position;
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
