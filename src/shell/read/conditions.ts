import {
  anyOf,
  type Branch,
  branchInside,
  eitherBranch,
  joinBranches,
  perhaps,
  type ShellPosition,
} from "./branches.js";
import type { Context } from "./context.js";
import { expandText } from "./expand-words.js";
import type { AndOr, Case, If, SyntaxNode, TestExpression, Word } from "./parse.js";

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
  const before = state.position;
  for (const [index, command] of others.entries()) {
    const operator = node.operators[index];
    const from = operator === "&&" ? success : failure;
    const same = index > 0 && operator === node.operators[index - 1];
    const branch = same && from !== undefined ? from : branchInside({ ...context, branch: from });
    if (!same) state.position = anyOf([before, state.position]);
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
  state.position = anyOf([before, state.position]);
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
  const reached: ShellPosition[] = [];
  // What the conditions set so far, and what their failing tells, holds in all that follows.
  let rest = context;
  const end = (branch: Branch | undefined): void => {
    branches.push(branch);
    if (branch?.left !== true) reached.push(state.position);
  };
  for (const part of [node, ...node.elif]) {
    run.walk(part.clause, rest);
    const { success, failure } = guardsIn(part.clause, context);
    const before = state.position;
    const inner = insideOf(rest, success);
    run.walk(part.then, inner);
    end(inner.branch);
    state.position = before;
    rest = insideOf(rest, failure);
  }
  if (node.else !== undefined) run.walk(node.else, rest);
  const before = state.position;
  end(rest.branch);
  joinBranches(branches, context);
  state.position = anyOf(isFilled(reached) ? reached : [before]);
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
  const before = state.position;
  const whole = node.items.some((item) => item.pattern.some((pattern) => pattern.text === "*"));
  const reached: ShellPosition[] = whole ? [] : [before];
  const branches = node.items.map((item) => {
    for (const pattern of item.pattern) expandText(pattern, context);
    const inner = perhaps(context);
    state.position = before;
    context.run.walk(item.body, inner);
    if (inner.branch?.left !== true) reached.push(state.position);
    return inner.branch;
  });
  state.position = anyOf(isFilled(reached) ? reached : [before]);
  if (whole) joinBranches(branches, context);
}

/** Variables that surely hold something when a condition was true, and when it was false. */
export interface Guards {
  readonly success: readonly string[];
  readonly failure: readonly string[];
}

const NONE: Guards = { success: [], failure: [] };
/** Files of these kinds have a name. */
const ABOUT_FILES = /^-[abcdefghkprstuwxGLNOS]$/;

/** `[ -n "$x" ]`, `[[ -z $x ]]`, `test -d "$x"` and lists of them. */
export function guardsOf(node: SyntaxNode | undefined): Guards {
  switch (node?.type) {
    case "Script":
    case "CompoundList":
      return guardsOf(node.commands.at(-1));
    case "Statement":
      return node.background === true ? NONE : guardsOf(node.command);
    case "Pipeline": {
      if (node.commands.length !== 1) return NONE;
      const negated = node.prefixes.filter((prefix) => prefix.type === "Negation").length % 2 === 1;
      return turned(guardsOf(node.commands[0]), negated);
    }
    case "AndOr": {
      const [operator] = node.operators;
      return node.operators.every((one) => one === operator)
        ? combined(node.commands.map(guardsOf), operator === "&&")
        : NONE;
    }
    case "Command": {
      const name = node.name?.value;
      if ((name !== "[" && name !== "test") || node.prefix.length > 0) return NONE;
      const words = node.suffix.flatMap((part) => (part.type === "Word" ? [part] : []));
      return ofWords(name === "[" ? words.slice(0, -1) : words);
    }
    case "TestCommand":
      return ofExpression(node.expression);
    default:
      return NONE;
  }
}

function turned({ success, failure }: Guards, negated: boolean): Guards {
  return negated ? { success: failure, failure: success } : { success, failure };
}

/** All parts of `a && b` were true when it is, all parts of `a || b` were false when it is not. */
function combined(all: readonly Guards[], and: boolean): Guards {
  return and
    ? { success: all.flatMap((guards) => guards.success), failure: [] }
    : { success: [], failure: all.flatMap((guards) => guards.failure) };
}

function ofWords(words: readonly Word[]): Guards {
  const [first, second, third] = words;
  if (first?.value === "!") return turned(ofWords(words.slice(1)), true);
  if (first === undefined || words.length > 3) return NONE;
  // Without quotes an empty variable is no word at all, and `[ -n ]` is true.
  if (second === undefined) return filled(quotedName(first));
  if (third === undefined) {
    if (first.value === "-z") return turned(filled(quotedName(second) ?? bareName(second)), true);
    return first.value === "-n" || ABOUT_FILES.test(first.value) ? filled(quotedName(second)) : NONE;
  }
  return compared(quotedName(first), second.value, third);
}

function ofExpression(expression: TestExpression): Guards {
  switch (expression.type) {
    case "TestUnary": {
      const name = quotedName(expression.operand) ?? bareName(expression.operand);
      if (expression.operator === "-z") return turned(filled(name), true);
      return expression.operator === "-n" || ABOUT_FILES.test(expression.operator) ? filled(name) : NONE;
    }
    case "TestBinary":
      return compared(
        quotedName(expression.left) ?? bareName(expression.left),
        expression.operator,
        expression.right,
      );
    case "TestLogical":
      return combined(expression.operands.map(ofExpression), expression.operator === "&&");
    case "TestNot":
      return turned(ofExpression(expression.operand), expression.negations.length % 2 === 1);
    case "TestGroup":
      return ofExpression(expression.expression);
    default:
      return NONE;
  }
}

/** `[ "$x" = "" ]`, `[ "$x" != "" ]`. */
function compared(name: string | undefined, operator: string, right: Word): Guards {
  if (!/^(?:""|'')$/.test(right.text)) return NONE;
  if (operator === "!=") return filled(name);
  return operator === "=" || operator === "==" ? turned(filled(name), true) : NONE;
}

function filled(name: string | undefined): Guards {
  return name === undefined ? NONE : { success: [name], failure: [] };
}

function quotedName({ text }: Word): string | undefined {
  return /^"(.*)"$/s.test(text) ? nameIn(text.slice(1, -1)) : undefined;
}

function bareName({ text }: Word): string | undefined {
  return nameIn(text);
}

/** `$x`, `${x}`, and `${x:-}`, which is for shells that complain about unset variables. */
function nameIn(text: string): string | undefined {
  const match = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-)?\})$/.exec(text);
  return match?.[1] ?? match?.[2];
}
