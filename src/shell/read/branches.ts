import type { SimpleCommand } from "../types.js";
import { anyOf, type Circumstances } from "./circumstances.js";
import type { Context } from "./context.js";
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
  exits: readonly Circumstances[];
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
    left.exits = [anyOf([state.circumstances, ...left.exits])];
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
