import { askFor, type Choice, type Context, type PlacedRedirect, spanOf } from "./context.js";
import { report } from "./core-findings.js";
import { namesItself } from "./fork-bomb.js";
import { madeFile, writeFile } from "./made-files.js";
import { valueOfParameter } from "./parameters.js";
import type { Assignment, Command, HereDoc, Redirected, Redirection, Word } from "./parse.js";
import { emit } from "./run-command.js";
import { ShellState, type Value } from "./state.js";
import { Output, type Stream } from "./stream.js";
import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "./types.js";
import { expandSingle, expandText, expandWord, mergeValues, textOf } from "./words.js";

/** Variables that hold more than a command are not followed: doubling them is the oldest trick. */
const LONGEST_VALUE = 16_384;
/** More combinations than this are tried one variable at a time. */
const MOST_COMBINATIONS = 64;

/** A command of the tree, once for every combination of values its variables may have. */
export function runSimple(node: Command, context: Context): void {
  if (node.name === undefined) runAssignments(node, context);
  else forEachChoice(context, (inner) => evaluate(node, inner));
}

function forEachChoice(context: Context, evaluateOnce: (inner: Context) => void): void {
  const { picked } = context.choice;
  const first: Choice = { picked, asked: undefined };
  evaluateOnce({ ...context, choice: first });
  if (first.asked === undefined) return;
  const open = [...first.asked].filter(([name]) => !picked.has(name));
  for (const [name, count] of open) askFor(context.choice, name, count);
  for (const combination of combinations(open)) {
    if (context.run.budget.exceeded) return;
    const choice = { picked: new Map([...picked, ...combination]), asked: undefined };
    evaluateOnce({ ...context, choice, certain: false });
  }
}

/** All combinations start from the same values, so each gets a memory of its own to change. */
function runAssignments(node: Command, context: Context): void {
  const { state, certain } = context;
  const assigned = new Map<string, Value[]>();
  forEachChoice(context, (inner) => {
    const own = new ShellState(state);
    evaluate(node, { ...inner, state: own, certain: true });
    for (const part of node.prefix) {
      if (part.type !== "Assignment") continue;
      const values = own.valuesOf(part.name) ?? [];
      assigned.set(part.name, [...(assigned.get(part.name) ?? []), ...values]);
    }
  });
  for (const [name, values] of assigned) state.assign(name, values, { certain });
}

/** All picks but the first of each. */
function combinations(
  open: readonly (readonly [string, number])[],
): readonly (readonly [string, number])[][] {
  const product = open.reduce((all, [, count]) => all * count, 1);
  if (product > MOST_COMBINATIONS) {
    return open.flatMap(([name, count]) =>
      Array.from({ length: count - 1 }, (_, index): [string, number][] => [[name, index + 1]]),
    );
  }
  let all: [string, number][][] = [[]];
  for (const [name, count] of open) {
    all = all.flatMap((picks) =>
      Array.from({ length: count }, (_, index): [string, number][] => [...picks, [name, index]]),
    );
  }
  return all.filter((picks) => picks.some(([, index]) => index > 0));
}

function evaluate(node: Command, context: Context): void {
  const { run } = context;
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
  const files = redirections.length === 0 ? sameFiles(context) : readRedirections(redirections, context);
  // Before a command they hold for that command only.
  const state = argv.length > 0 && assigned.length > 0 ? new ShellState(context.state) : context.state;
  const changed = state !== context.state || redirections.length > 0;
  const inner: Context = changed ? { ...context, state, input: files.input, out: files.out } : context;
  const assignments = assigned.flatMap((assignment) =>
    assign(assignment, inner, { exported: argv.length > 0 }),
  );
  if (startsItself(node, context)) report(context, "fork-bomb.function", { span });
  const capture = run.sinks.length > sinksBefore && inner.out === undefined ? new Output() : undefined;
  run.runArgv({
    argv,
    assignments,
    redirects: files.redirects,
    context: capture === undefined ? inner : { ...inner, out: capture },
    span,
  });
  for (const { name, value } of assignments) runCommandVariable(name, { value, context: inner, span });
  files.settle();
  const printed = (capture ?? inner.out)?.stream();
  for (const sink of run.sinks.splice(sinksBefore)) {
    if (printed === undefined) continue;
    const origin = sink.script.source === undefined ? context.origin : (context.origin ?? sink.span);
    run.walk(sink.script, {
      ...context,
      state: new ShellState(context.state),
      input: printed,
      forked: true,
      origin,
    });
  }
}

/** `$0 &`, `sh "$0" | …`: the running script starts itself once more. */
function startsItself(node: Command, context: Context): boolean {
  if (!context.forked || node.name === undefined) return false;
  if (namesItself(node.name.text)) return true;
  const [first] = node.suffix;
  return /^(?:ba|da|z|k)?sh$/.test(node.name.value) && first?.type === "Word" && namesItself(first.text);
}

/** `export A=b`: a word of the command; arrays are remembered here, since a word cannot hold them. */
function declaredWord(assignment: Assignment, context: Context): ShellWord {
  const span = context.origin === undefined ? ([assignment.pos, assignment.end] as const) : undefined;
  const [made] = assign(assignment, context, { remember: assignment.value.type === "ArrayValue" });
  const text = `${assignment.name}${assignment.append === true ? "+" : ""}=${made?.value.text ?? ""}`;
  return {
    ...made?.value,
    text,
    known: !text.includes(UNKNOWN),
    glob: false,
    ...(span !== undefined && { span }),
  };
}

function assign(
  assignment: Assignment,
  context: Context,
  { remember = true, exported = false } = {},
): SimpleCommand["assignments"] {
  const { state, certain } = context;
  const { name } = assignment;
  const added = assignment.append === true || assignment.index !== undefined;
  const before = added && state.valuesOf(name) !== undefined ? valueOfParameter(name, context) : undefined;
  const given = combined(assignment, before, context);
  const value = given.text.length > LONGEST_VALUE ? { ...given, text: UNKNOWN } : given;
  if (remember) state.assign(name, [value], { certain });
  if (exported) state.export(name);
  const { items: _items, ...word } = value;
  return [{ name, value: { ...word, known: !value.text.includes(UNKNOWN), glob: false } }];
}

function combined(assignment: Assignment, before: Value | undefined, context: Context): Value {
  const { value: given, append, index } = assignment;
  if (given.type === "ArrayValue") {
    const words = given.elements.flatMap((element) => expandWord(element, context));
    const items = [...(append === true ? (before?.items ?? []) : []), ...words.map((word) => word.text)];
    return { text: items[0] ?? "", items: items.slice(0, 1_024) };
  }
  const value = expandText(given, context);
  if (index !== undefined) {
    const position = expandText(index, context).text;
    const items = [...(before?.items ?? [])];
    if (!/^\d{1,3}$/.test(position)) return { ...value, text: UNKNOWN };
    items[Number(position)] = value.text;
    const whole = Array.from(items, (item) => item ?? "");
    return { ...value, text: whole[0] ?? "", items: whole };
  }
  if (append !== true) return value;
  return mergeValues([before ?? { text: UNKNOWN }, value]);
}

/** Variables whose value some program hands to a shell. */
const COMMAND_VARIABLES = new Set(
  (
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND " +
    "EDITOR VISUAL FCEDIT PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SUDO_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER"
  ).split(" "),
);

function runCommandVariable(
  name: string,
  task: { readonly value: ShellWord; readonly context: Context; readonly span: Span },
): void {
  const { value, context, span } = task;
  if (!COMMAND_VARIABLES.has(name) || !value.known || value.text.trim() === "") return;
  const text = value.text.replace(/^\|-?\s*/, "").replaceAll("%s", UNKNOWN);
  const state = new ShellState(context.state, "process");
  context.run.runText({ text, context: { ...context, state, out: undefined }, span, foreign: true });
}

interface OpenedFiles {
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

function sameFiles({ input, out }: Context): OpenedFiles {
  return { redirects: [], input, out, settle: NOTHING_TO_SETTLE };
}

function readRedirections(redirections: readonly Redirection[], context: Context): OpenedFiles {
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
    if (redirection.target === undefined || redirection.operator === "<&") continue;
    const target = expandSingle(redirection.target, context);
    if (redirection.operator === ">&" && /^(?:\d+-?|-)$/.test(target.text)) continue;
    const kind = KINDS[redirection.operator];
    const standardOutput = kind !== "read" && (descriptor === undefined || descriptor === 1);
    redirects.push({ kind, target, standardOutput });
    if (kind === "read" && (descriptor === undefined || descriptor === 0)) {
      input = madeFile(context.state, target.text)?.content ?? { kind: "file", path: target };
    } else if (standardOutput) {
      out = new Output();
      written.push({ path: target.text, output: out, append: kind === "append" });
    }
  }
  const settle = (): void => {
    for (const { path, output, append } of written)
      writeFile(context.state, path, { content: output.stream(), append });
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
