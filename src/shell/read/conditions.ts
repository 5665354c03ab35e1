import { type Branch, branchInside, eitherBranch, joinBranches, perhaps } from "./branches.js";
import { anyOf, type Circumstances } from "./circumstances.js";
import type { Context } from "./context.js";
import { type Guards, guardsOf } from "./guards.js";
import type { AndOr, Case, If, SyntaxNode } from "./parse.js";
import { expandText } from "./words.js";

/** Parts of a line that run only under a condition, and what is certain after them all the same. */

/**
 * What follows `&&` runs where all so far went well, what follows `||` where it did not. Which names are set in
 * either case is followed, so that `a && x=1 || x=2` sets one for certain.
 */
export function walkAndOr(node: AndOr, context: Context): void {
  const [first, ...others] = node.commands;
  if (first === undefined) return;
  context.run.walk(first, context);
  const guards = guardsIn(first, context);
  let success = guardedBranch(guards.success, context) ?? context.branch;
  let failure = guardedBranch(guards.failure, context) ?? context.branch;
  const { state } = context;
  const before = state.circumstances;
  for (const [index, command] of others.entries()) {
    const operator = node.operators[index];
    const from = operator === "&&" ? success : failure;
    const same = index > 0 && operator === node.operators[index - 1];
    const branch = same && from !== undefined ? from : branchInside({ ...context, branch: from });
    if (!same) state.circumstances = anyOf([before, state.circumstances]);
    context.run.walk(command, perhaps(context, branch));
    if (operator === "&&") {
      failure = eitherBranch(failure, branch, context);
      success = branch;
      for (const name of guardsIn(command, context).success) context.state.coverGuarded(name, branch);
    } else {
      success = eitherBranch(success, branch, context);
      failure = branch;
      for (const name of guardsIn(command, context).failure) context.state.coverGuarded(name, branch);
    }
  }
  joinBranches([success, failure], context);
  state.circumstances = anyOf([before, state.circumstances]);
}

/** A line that gives `test` a meaning of its own is not believed. */
function guardsIn(node: SyntaxNode, { state }: Context): Guards {
  const isTheirs = (name: string) =>
    state.functionsOf(name).length > 0 || state.aliases.get(name) !== undefined;
  return isTheirs("test") || isTheirs("[") ? { success: [], failure: [] } : guardsOf(node);
}

/** A part of the line in which these variables hold something; undefined when there are none. */
function guardedBranch(names: readonly string[], context: Context): Branch | undefined {
  if (names.length === 0) return undefined;
  const branch = branchInside(context);
  for (const name of names) context.state.coverGuarded(name, branch);
  return branch;
}

export function walkIf(node: If, context: Context): void {
  const { state, run } = context;
  const branches: (Branch | undefined)[] = [];
  const reached: Circumstances[] = [];
  // What the conditions set so far, and what their failing tells, holds in all that follows.
  let rest = context;
  const end = (branch: Branch | undefined): void => {
    branches.push(branch);
    if (branch?.left !== true) reached.push(state.circumstances);
  };
  for (const part of [node, ...node.elif]) {
    run.walk(part.clause, rest);
    const { success, failure } = guardsIn(part.clause, context);
    const before = state.circumstances;
    const inner = insideOf(rest, success);
    run.walk(part.then, inner);
    end(inner.branch);
    state.circumstances = before;
    rest = insideOf(rest, failure);
  }
  if (node.else !== undefined) run.walk(node.else, rest);
  const before = state.circumstances;
  end(rest.branch);
  joinBranches(branches, context);
  state.circumstances = anyOf(isFilled(reached) ? reached : [before]);
}

/** A branch in which these variables hold something. */
function insideOf(context: Context, names: readonly string[]): Context {
  return perhaps(context, guardedBranch(names, context) ?? branchInside(context));
}

function isFilled<Item>(list: readonly Item[]): list is readonly [Item, ...Item[]] {
  return list.length > 0;
}

export function walkCase(node: Case, context: Context): void {
  expandText(node.word, context);
  const { state } = context;
  const before = state.circumstances;
  const whole = node.items.some((item) => item.pattern.some((pattern) => pattern.text === "*"));
  const reached: Circumstances[] = whole ? [] : [before];
  const branches = node.items.map((item) => {
    for (const pattern of item.pattern) expandText(pattern, context);
    const inner = perhaps(context);
    state.circumstances = before;
    context.run.walk(item.body, inner);
    if (inner.branch?.left !== true) reached.push(state.circumstances);
    return inner.branch;
  });
  state.circumstances = anyOf(isFilled(reached) ? reached : [before]);
  if (whole) joinBranches(branches, context);
}
