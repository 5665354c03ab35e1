import type { LineOptions } from "../command-line.js";
import { Budget, LIMITS } from "../limits.js";
import { isDecoder } from "../rules/flows.js";
import { type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { type Context, type Invocation, type Run, report, type TextTask } from "./context.js";
import { normalise } from "./normalise.js";
import { parseShell, type Script } from "./parse.js";
import { runArgv } from "./run-command.js";
import { ShellState, type Value } from "./state.js";
import { NO_INPUT, Output, type Stream } from "./streams.js";
import { walk } from "./walk.js";

export interface UnfoldOptions extends LineOptions {
  /** Names that rules react to, for patterns in program position. */
  readonly notablePrograms: ReadonlySet<string>;
}

/** Every command a line would run, whatever carries it. Undefined when the line is not valid bash. */
export function unfold(command: string, options: UnfoldOptions): Run | undefined {
  const run: Run = {
    budget: new Budget(),
    commands: [],
    variants: new Map(),
    carriers: new Set(),
    findings: [],
    notablePrograms: options.notablePrograms,
    interpreters: new Map(),
    home: options.home,
    workspace: options.workspace,
    hermesHome: options.hermesHome,
    sinks: [],
    given: new Set(),
    choice: { picked: new Map(), asked: undefined },
    isTrial: false,
    openScripts: new Set(),
    later: [],
    nextDescriptor: 63,
    substitute,
    processOutput,
    walk,
    runText,
    runArgv: runCounted,
  };
  run.budget.spend("parsed", command.length);
  const script = parseShell(command);
  if (script === undefined) return undefined;
  // These are too many before the first of them is looked at.
  const commands = script.commands.filter((statement) => statement.command.type === "Command").length;
  if (!run.budget.mayStill("commands", commands)) return run;
  walk(script, {
    run,
    state: initialState(options),
    input: NO_INPUT,
    out: undefined,
    wrappers: [],
    depth: 0,
    repeated: false,
    rounds: 1,
    certain: true,
    branch: undefined,
    forked: "no",
    calls: [],
    origin: undefined,
  });
  for (const task of run.later.splice(0)) task();
  return run;
}

function initialState({ variables = {}, files }: LineOptions): ShellState {
  const state = new ShellState();
  if (files !== undefined) state.disk = { textOf: files, folder: undefined };
  for (const [name, text] of Object.entries(variables)) {
    state.assign(name, [{ text }], { certain: true, branch: undefined });
    state.export(name);
  }
  return state;
}

function substitute(script: Script, context: Context, span: Span): Value {
  const out = new Output();
  walkInner(script, { ...context, out }, span);
  const text = out.text.replace(/\n+$/, "");
  return out.from.length > 0 ? { text, outputs: out.from } : { text };
}

function processOutput(script: Script, context: Context, span: Span): Stream {
  const out = new Output();
  walkInner(script, { ...context, out }, span);
  return out.stream();
}

function walkInner(script: Script, context: Context, span: Span): void {
  walk(script, {
    ...context,
    state: new ShellState(context.state),
    // Escaped backticks are decoded into a text of their own, whose positions mean nothing here.
    origin: script.source === undefined ? context.origin : (context.origin ?? span),
  });
}

/** A variable is cheap to write and may be long. */
function runCounted(invocation: Invocation): void {
  let length = 0;
  for (const word of invocation.argv) length += word.text.length;
  if (invocation.context.run.budget.spend("expanded", length)) runArgv(invocation);
}

const ONLY_UNKNOWN = /^[^\S\n]*\uFFFC+[^\S\n]*$/gm;

function runText(task: TextTask): void {
  const { context } = task;
  const { run } = context;
  if (context.depth > LIMITS.depth) {
    run.budget.exceed();
    return;
  }
  if (!run.budget.spend("parsed", task.text.length)) return;
  const parsed = readText(task);
  if (parsed !== undefined) walkText(parsed, task);
  // Text that was hidden until now may hide something in its turn.
  const seen = normalise(task.text);
  const script = seen === undefined ? undefined : parseShell(seen.text);
  if (script !== undefined) walkText(script, task);
}

/** What comes out is not what a reader of the line saw going in. */
function rewrites(command: SimpleCommand): boolean {
  return isDecoder(command) || /^(?:g?sed|[gm]?awk|perl|python[\d.]*|ruby|node|php)$/.test(command.program);
}

/** The tree of a text without its unknown lines; what cannot be read is reported. */
function readText({ text: given, context, span, carrier, from, foreign }: TextTask): Script | undefined {
  const unknown = given.includes(UNKNOWN);
  const text = unknown ? given.replace(ONLY_UNKNOWN, "") : given;
  if (from?.some(rewrites) === true) report(context, "opaque.decoded-input", { span, command: carrier });
  if (text !== given && !preparesShell(from)) {
    report(context, "opaque.shell-input", { span, command: carrier });
  }
  const script = parseShell(text);
  if (script !== undefined) return script;
  // With unknown pieces, or in another shell's language, it may be fine where it runs.
  const rule = unknown || foreign === true ? "opaque.shell-input" : "hardline.unparseable";
  report(context, rule, { span, command: carrier });
  return undefined;
}

function walkText(script: Script, task: TextTask): void {
  const { context, span } = task;
  const { state } = context;
  const { zero } = state;
  const { positionals } = state.position;
  if (task.positional !== undefined) state.position = { ...state.position, positionals: [task.positional] };
  if (task.zero !== undefined) state.zero = task.zero;
  walk(script, { ...context, depth: context.depth + 1, origin: context.origin ?? span });
  if (task.positional !== undefined) state.position = { ...state.position, positionals };
  state.zero = zero;
}

/** Programs whose output is meant for `eval`: they print settings for the shell they are started from. */
const ALWAYS = new Set("ssh-agent gpg-agent dircolors lesspipe lessfile resize keychain".split(" "));
const TOOLS = new Set(
  (
    "direnv brew pyenv rbenv nodenv goenv jenv plenv fnm nvm starship zoxide mise rtx asdf conda mamba micromamba opam " +
    "minikube docker-machine pip kubectl helm gh luarocks rustup thefuck atuin fzf register-python-argcomplete npm pnpm " +
    "poetry uv ng kind k3d flux argocd terraform vault hugo deno bun volta pdm hatch just task chezmoi navi mcfly op"
  ).split(" "),
);
const SETUP_VERB =
  /^(?:init|hook|env|shellenv|activate|completions?|shell\.\w+|shell|docker-env|path|virtualenv-init|--(?:alias|bash|zsh|init|path|completion))$/;

/** True when all of a text comes from programs that prepare a shell: `eval "$(direnv hook bash)"`. */
export function preparesShell(from: readonly SimpleCommand[] | undefined): boolean {
  return from !== undefined && from.length > 0 && from.every(isSetup);
}

function isSetup({ program, args, wrappers }: SimpleCommand): boolean {
  if (wrappers.some(({ kind }) => kind === "remote" || kind === "container")) return false;
  if (ALWAYS.has(program)) return true;
  return TOOLS.has(program) && args.slice(0, 2).some((word) => SETUP_VERB.test(word.text));
}
