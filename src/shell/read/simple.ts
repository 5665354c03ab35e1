import type { ShellWord } from "../types.js";
import { assign, assignedName, declaredWord, runCommandVariable } from "./assignments.js";
import { askFor, type Choice, type Context, spanOf } from "./context.js";
import { report } from "./core-findings.js";
import { namesItself } from "./fork-bomb.js";
import type { Assignment, Command, Redirected, Redirection } from "./parse.js";
import { readRedirections, sameFiles } from "./redirections.js";
import { emit } from "./run-command.js";
import { ShellState, type Value } from "./state.js";
import { Output, type Stream } from "./stream.js";
import { expandWord } from "./words.js";

/** More combinations than this are tried one variable at a time. */
const MOST_COMBINATIONS = 64;

/** A command of the tree, once for every combination of values its variables may have. */
export function runSimple(node: Command, context: Context): void {
  if (node.name === undefined) runAssignments(node, context);
  else forEachChoice(context, (inner) => evaluate(node, inner));
}

export function forEachChoice(context: Context, evaluateOnce: (inner: Context) => void): void {
  const { run } = context;
  const outer = run.choice;
  const { picked } = outer;
  const first: Choice = { picked, asked: undefined };
  run.choice = first;
  evaluateOnce(context);
  const open = first.asked === undefined ? [] : [...first.asked].filter(([name]) => !picked.has(name));
  for (const [name, count] of open) askFor(outer, name, count);
  if (open.length > 0) outer.nested = true;
  for (const combination of open.length === 0 ? [] : combinations(open, { all: first.nested === true })) {
    if (run.budget.exceeded) break;
    run.choice = { picked: new Map([...picked, ...combination]), asked: undefined };
    evaluateOnce({ ...context, certain: false });
  }
  run.choice = outer;
}

/** All combinations start from the same values, so each gets a memory of its own to change. */
function runAssignments(node: Command, context: Context): void {
  if (node.suffix.length === 0 && node.prefix.every(isPlainAssignment)) {
    evaluate(node, context);
    return;
  }
  const { state } = context;
  const assigned = new Map<string, Value[]>();
  const names = new Set(
    node.prefix.flatMap((part) => (part.type === "Assignment" ? [assignedName(part.name, state)] : [])),
  );
  const others = new Map<string, Value[]>();
  forEachChoice(context, (inner) => {
    const own = new ShellState(state);
    evaluate(node, { ...inner, state: own, certain: true });
    for (const name of own.ownNames()) {
      const all = names.has(name) ? assigned : others;
      all.set(name, [...(all.get(name) ?? []), ...(own.valuesOf(name) ?? [])]);
    }
  });
  for (const [name, values] of assigned) state.assign(name, values, context);
  // `a=${b:=c}` sets another one as well, if that has no value.
  for (const [name, values] of others) state.assign(name, values, { ...context, certain: false });
}

/** `A=text`: no variable in it could have several values. */
function isPlainAssignment(part: Assignment | Redirection): boolean {
  if (part.type !== "Assignment" || part.append === true || part.index !== undefined) return false;
  return part.value.type !== "ArrayValue" && part.value.parts === undefined;
}

/** All picks but the first of each, unless that is to be tried on its own as well. */
function combinations(
  open: readonly (readonly [string, number])[],
  { all: withFirst }: { readonly all: boolean },
): readonly (readonly [string, number])[][] {
  const product = open.reduce((all, [, count]) => all * count, 1);
  if (product > MOST_COMBINATIONS) {
    const single = open.flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index): [string, number][] => [[name, index]]).slice(
        withFirst ? 0 : 1,
      ),
    );
    // The last value is the missing one, where a variable may be unset: all of them may be at once.
    return [...single, open.map(([name, count]) => [name, count - 1])];
  }
  let all: [string, number][][] = [[]];
  for (const [name, count] of open) {
    all = all.flatMap((picks) =>
      Array.from({ length: count }, (_, index): [string, number][] => [...picks, [name, index]]),
    );
  }
  return withFirst ? all : all.filter((picks) => picks.some(([, index]) => index > 0));
}

function evaluate(node: Command, given: Context): void {
  const { run, state } = given;
  // After `exec < file` that file is what everything reads, unless it has an input of its own.
  const context =
    state.input !== undefined && given.input.kind === "none" ? { ...given, input: state.input } : given;
  const span = spanOf(node, context);
  const sinksBefore = run.sinks.length;
  const argv: ShellWord[] = [];
  if (node.name !== undefined) argv.push(...expandWord(node.name, context));
  const redirections: Redirection[] = [];
  const assigned: Assignment[] = [];
  for (const part of node.prefix) {
    if (part.type === "Assignment") assigned.push(part);
    else redirections.push(part);
  }
  for (const part of node.suffix) {
    if (part.type === "Word") {
      if (!run.budget.spend("words")) return;
      for (const word of expandWord(part, context)) argv.push(word);
    } else if (part.type === "Assignment") argv.push(declaredWord(part, context));
    else redirections.push(part);
  }
  if (redirections.length + assigned.length === 0 && run.sinks.length === sinksBefore) {
    if (startsItself(node, context)) report(context, "fork-bomb.function", { span });
    run.runArgv({ argv, assignments: [], redirects: [], context, span });
    return;
  }
  const files = redirections.length === 0 ? sameFiles(context) : readRedirections(redirections, context);
  const inner = redirections.length === 0 ? context : { ...context, input: files.input, out: files.out };
  if (argv.length === 1 && argv[0]?.text === "exec" && files.input !== context.input)
    state.input = files.input;
  if (startsItself(node, context)) report(context, "fork-bomb.function", { span });
  const capture = run.sinks.length > sinksBefore && inner.out === undefined ? new Output() : undefined;
  const place = capture === undefined ? inner : { ...inner, out: capture };
  const start = (exported: boolean): void => {
    const assignments = assigned.flatMap((assignment) => assign(assignment, inner, { exported }));
    run.runArgv({ argv, assignments, redirects: files.redirects, context: place, span });
    for (const { name, value } of assignments) runCommandVariable(name, { value, context: inner, span });
  };
  if (argv.length === 0 || assigned.length === 0) start(false);
  else {
    // Before a command they hold for that command only.
    context.state.withLocals(() => {
      for (const { name } of assigned) context.state.makeLocal(name);
      start(true);
    });
  }
  files.settle();
  runSinks({ from: sinksBefore, printed: (capture ?? inner.out)?.stream(), context });
}

/** `>(…)`: each reads what the command prints. */
function runSinks(task: {
  readonly from: number;
  readonly printed: Stream | undefined;
  readonly context: Context;
}): void {
  const { context, printed } = task;
  for (const { script, span } of context.run.sinks.splice(task.from)) {
    if (printed === undefined) continue;
    context.run.walk(script, {
      ...context,
      state: new ShellState(context.state),
      input: printed,
      forked: "background",
      origin: script.source === undefined ? context.origin : (context.origin ?? span),
    });
  }
}

/** `$0 &`, `sh "$0" | …`: the running script starts itself once more. */
function startsItself(node: Command, context: Context): boolean {
  if (context.forked === "no" || node.name === undefined) return false;
  if (namesItself(node.name.text)) return true;
  const [first] = node.suffix;
  return /^(?:ba|da|z|k)?sh$/.test(node.name.value) && first?.type === "Word" && namesItself(first.text);
}

/** A compound command with redirections: the files are its own, the streams those of everything inside. */
export function runRedirected(node: Redirected, context: Context, inside: (inner: Context) => void): void {
  const files = readRedirections(node.redirects, context);
  const inner = { ...context, input: files.input, out: files.out };
  if (files.redirects.length > 0) {
    const name: ShellWord = { text: "{", known: true, glob: false };
    const invocation = {
      argv: [name],
      assignments: [],
      redirects: files.redirects,
      context: inner,
      span: spanOf(node, context),
    };
    emit(invocation, { program: "{", name });
  }
  inside(inner);
  files.settle();
}
