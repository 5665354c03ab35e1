import type { ShellWord } from "../types.js";
import { assign, assignedName, declaredWord, noteLookup, runCommandVariable } from "./assignments.js";
import { askFor, type Choice, type Context, type PlacedRedirect, report, spanOf } from "./context.js";
import { expandSingle, expandText, expandWord, textOf } from "./expand-words.js";
import { namesItself } from "./fork-bomb.js";
import { joinGluedWords } from "./glued-words.js";
import type { Assignment, Command, HereDoc, Redirected, Redirection, Word } from "./parse.js";
import { emit } from "./run-command.js";
import { ShellState, type Value } from "./state.js";
import { Output, type Stream } from "./streams.js";
import { madeFile, writeFile } from "./written-files.js";

/** More combinations than this are tried one variable at a time. */
const MOST_COMBINATIONS = 64;

/** A command of the tree, once for every combination of values its variables may have. */
export function runSimple(written: Command, context: Context): void {
  const node = joinGluedWords(written);
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
  for (const [name, values] of assigned) {
    state.assign(name, values, context);
    for (const value of values) noteLookup(name, value, context);
  }
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

/** The files a command opens, and what flows through them. */
export interface OpenedFiles {
  readonly redirects: readonly PlacedRedirect[];
  readonly input: Stream;
  readonly out: Output | undefined;
  /** Remembers what was written, once the command has run. */
  settle(): void;
}

const KINDS = {
  "<": "read",
  ">": "write",
  ">|": "write",
  ">&": "write",
  "&>": "write",
  ">>": "append",
  "&>>": "append",
  "<>": "both",
} as const;

const NOTHING_TO_SETTLE = (): void => {};

export function sameFiles({ input, out }: Context): OpenedFiles {
  return { redirects: [], input, out, settle: NOTHING_TO_SETTLE };
}

export function readRedirections(redirections: readonly Redirection[], context: Context): OpenedFiles {
  const redirects: PlacedRedirect[] = [];
  let { input, out } = context;
  const written: { readonly path: string; readonly output: Output; readonly append: boolean }[] = [];
  for (const redirection of redirections) {
    const descriptor =
      redirection.descriptor?.type === "FileDescriptor" ? redirection.descriptor.value : undefined;
    if (redirection.type !== "Redirect") {
      const text =
        redirection.type === "HereDoc"
          ? hereDocument(redirection, context)
          : hereString(redirection.target, context);
      const stream: Stream = { kind: "text", text: text.text, from: text.outputs ?? [] };
      if (descriptor === undefined || descriptor === 0) input = stream;
      else
        context.state.files.set(`/dev/fd/${descriptor}`, {
          content: stream,
          foreign: false,
          executable: false,
        });
      continue;
    }
    if (redirection.target === undefined) continue;
    if (!context.run.budget.spend("redirects")) break;
    const target = expandSingle(redirection.target, context);
    if (redirection.operator === "<&") {
      const stream = context.state.files.get(`/dev/fd/${target.text.replace(/-$/, "")}`)?.content;
      if (stream !== undefined && (descriptor === undefined || descriptor === 0)) input = stream;
      continue;
    }
    if (redirection.operator === ">&" && /^(?:\d+-?|-)$/.test(target.text)) continue;
    const kind = KINDS[redirection.operator];
    const standardOutput = kind !== "read" && (descriptor === undefined || descriptor === 1);
    redirects.push({ kind, target, standardOutput });
    if (kind === "read" && (descriptor === undefined || descriptor === 0)) {
      input = madeFile(context.state, target.text)?.content ?? { kind: "file", path: target };
    } else if (kind === "read") {
      const content = madeFile(context.state, target.text)?.content ?? { kind: "file", path: target };
      context.state.files.set(`/dev/fd/${descriptor}`, { content, foreign: false, executable: false });
    } else if (standardOutput) {
      out = new Output();
      written.push({ path: target.text, output: out, append: kind === "append" });
    }
  }
  const settle = (): void => {
    for (const { path, output, append } of written)
      writeFile(context.state, path, { content: output.stream(), append, certain: context.certain });
  };
  return { redirects, input, out, settle };
}

function hereString(target: Word | undefined, context: Context): Value {
  if (target === undefined) return { text: "" };
  const value = expandText(target, context);
  return { ...value, text: `${value.text}\n` };
}

function hereDocument(document: HereDoc, context: Context): Value {
  const { body, delimiter } = document;
  const raw = delimiter?.quoted === true ? { text: body.text } : unquotedBody(document, context);
  return document.operator === "<<-" ? { ...raw, text: raw.text.replace(/^\t+/gm, "") } : raw;
}

function unquotedBody({ body }: HereDoc, context: Context): Value {
  if (body.parts !== undefined) return textOf(body.parts, context);
  return { text: body.text.replace(/\\([\\$`\n])/g, (_whole, next: string) => (next === "\n" ? "" : next)) };
}
