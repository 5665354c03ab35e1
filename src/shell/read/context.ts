import type { Budget } from "../limits.js";
import type { Finding, ShellRedirect, ShellWord, SimpleCommand, Span, Wrapper } from "../types.js";
import type { Branch } from "./branches.js";
import type { Script, SyntaxNode } from "./parse.js";
import type { FunctionBody, ShellState, Value } from "./state.js";
import type { Output, Stream } from "./streams.js";

/** The circumstances in which a piece of the line runs. Immutable; what changes is in `state` and `run`. */
export interface Context {
  readonly run: Run;
  readonly state: ShellState;
  readonly input: Stream;
  /** Who collects what is printed here; undefined when it goes to the terminal. */
  readonly out: Output | undefined;
  readonly wrappers: readonly Wrapper[];
  /** Texts, wrappers and function calls around this piece. */
  readonly depth: number;
  readonly repeated: boolean;
  readonly rounds: number;
  /** False where a command may also not run, so that an assignment adds a possible value instead of replacing it. */
  readonly certain: boolean;
  /** The innermost part of the line around this piece that may also not run; undefined where everything runs. */
  readonly branch: Branch | undefined;
  /** The strongest way in which a process of its own was started since the innermost function began. */
  readonly forked: "no" | "pipe" | "background";
  /** Functions being called, outermost first. */
  readonly calls: readonly FunctionCall[];
  /** Set inside texts of their own (`sh -c '…'`): the part of the line that everything in them stands for. */
  readonly origin: Span | undefined;
}

export interface FunctionCall {
  readonly name: string;
  readonly body: FunctionBody;
  /** How it was called, from inside the function before it. */
  readonly forked: Context["forked"];
  readonly certain: boolean;
}

export interface Choice {
  readonly picked: ReadonlyMap<string, number>;
  /** Variables with more than one value that were used, and how many values they have. */
  asked: Map<string, number> | undefined;
  /** True when a substitution asked: it has printed all possibilities at once, so the first is no single one. */
  nested?: boolean;
}

export function askFor(choice: Choice, name: string, count: number): void {
  choice.asked ??= new Map();
  choice.asked.set(name, count);
}

/** A command while its pipe is still being read. */
export type Emitted = Omit<SimpleCommand, "feeds"> & { feeds: readonly SimpleCommand[] };

/** A finding of the analysis itself, with the piece of the line it is about. */
export interface PlacedFinding extends Finding {
  readonly span: Span;
  readonly command?: SimpleCommand | undefined;
}

/** One judgement: what it has found so far, and the ways from one part of the analysis into another. */
export interface Run {
  readonly budget: Budget;
  readonly commands: Emitted[];
  /** The same command with its paths completed by the folders that `cd` may have gone to; judged in addition. */
  readonly variants: Map<SimpleCommand, readonly Emitted[]>;
  /** Commands that only carry another one (`sudo`, `timeout`), which is listed as well. */
  readonly carriers: Set<SimpleCommand>;
  readonly findings: PlacedFinding[];
  /** Names that rules, shells and wrappers react to. */
  readonly notablePrograms: ReadonlySet<string>;
  /** Programs of this line, and whether they run code of another language. */
  readonly interpreters: Map<string, boolean>;
  readonly home: string | undefined;
  readonly hermesHome: string | undefined;
  readonly workspace: string | undefined;
  /** `>(…)` met while words were expanded; they run on what the command prints. */
  readonly sinks: { readonly script: Script; readonly span: Span }[];
  /** Variables that were used before the line set them: they come from outside. */
  readonly given: Set<string>;
  /** Which of several possible values the variables of the command at hand have. */
  choice: Choice;
  /** True while words of a program nobody knows are only tried out as commands. */
  readonly isTrial: boolean;
  /** Files of this line whose orders are being followed; one that starts its own program again says nothing new. */
  readonly openScripts: Set<string>;
  /** What runs when the line is done. */
  readonly later: (() => void)[];
  nextDescriptor: number;
  /** Walks a substitution; its foreseen output with trailing newlines removed. */
  substitute(script: Script, context: Context, span: Span): Value;
  /** Walks `<(…)`: what can be read from it. */
  processOutput(script: Script, context: Context, span: Span): Stream;
  walk(node: SyntaxNode, context: Context): void;
  runText(task: TextTask): void;
  runArgv(invocation: Invocation): void;
}

/** A text that some shell runs. */
export interface TextTask {
  readonly text: string;
  readonly context: Context;
  /** What carried the text. */
  readonly span: Span;
  readonly carrier?: SimpleCommand | undefined;
  /** True for shells whose language is not bash: text that cannot be read is then only dangerous. */
  readonly foreign?: boolean | undefined;
  readonly positional?: readonly ShellWord[] | undefined;
  readonly zero?: ShellWord | undefined;
  /** Commands that wrote the unknown part of it. */
  readonly from?: readonly SimpleCommand[] | undefined;
}

export interface PlacedRedirect extends ShellRedirect {
  /** True when it takes what would be printed. */
  readonly standardOutput: boolean;
}

/** Where a node stands in the command line. */
export function spanOf(node: { readonly pos: number; readonly end: number }, context: Context): Span {
  return context.origin ?? [node.pos, node.end];
}

/** A command after expansion, before wrappers are opened. */
export interface Invocation {
  readonly argv: readonly ShellWord[];
  readonly assignments: SimpleCommand["assignments"];
  readonly redirects: readonly PlacedRedirect[];
  readonly context: Context;
  readonly span: Span;
  /** True when functions and aliases no longer count: behind a wrapper. */
  readonly wrapped?: boolean;
}

/** What the analysis itself can find, apart from the rules: things it cannot see into, and its own limits. */
const CORE = {
  "opaque.shell-input": ["danger", "runs text as shell commands that cannot be seen beforehand"],
  "opaque.decoded-input": [
    "danger",
    "runs text as shell commands that is decoded first, so that nobody can read it",
  ],
  "opaque.wrapper": ["danger", "runs another command in a way that cannot be read with certainty"],
  "opaque.carried": ["danger", "names a dangerous command in its words, which it may run"],
  "opaque.recipe": ["danger", "runs a tool with a file of this session that holds a dangerous command"],
  "opaque.program": ["danger", "runs a program whose name is only known when it runs"],
  "opaque.downloaded-script": ["danger", "runs a file that was fetched or decoded in the same line"],
  "opaque.made-executable": ["danger", "makes a file executable and runs it at once"],
  "opaque.untrusted-script": ["danger", "runs a script from a folder for temporary or downloaded files"],
  "credentials.sent": ["danger", "sends a file into which the same line has put keys or the environment"],
  "git.push-address": ["danger", "sends the repository to an address that this very line sets up"],
  "abuse.exhaust": ["danger", "starts hundreds of processes at once"],
  "fork-bomb.function": ["hardline", "starts copies of itself without end"],
  "fork-bomb.loop": ["hardline", "starts processes without end"],
  "hardline.unparseable": ["hardline", "is not valid shell text, so what it runs cannot be told"],
} as const satisfies Readonly<Record<string, readonly [Finding["level"], string]>>;

export type CoreRule = keyof typeof CORE;

export function report(
  context: Context,
  rule: CoreRule,
  { span, command }: { readonly span: Span; readonly command?: SimpleCommand | undefined },
): void {
  const [level, reason] = CORE[rule];
  const finding: PlacedFinding = { level, rule, reason, span, command };
  context.run.findings.push(finding);
}

/** Texts that the shell reads a second time: subscripts, prompts, numbers that are names of numbers. */

const SUBSTITUTION = /\$[({]|`/;

/** Runs the substitutions in a text, the way a here-document would. */
export function evaluateAgain(text: string, context: Context, span: Span): void {
  if (!SUBSTITUTION.test(text)) return;
  const end = "END_OF_TEXT";
  context.run.runText({ text: `: <<${end}\n${text}\n${end}\n`, context, span, foreign: true });
}

/** `a[$(…)]`: the subscript of an array is worked out where only a name was expected. */
export function evaluateSubscript(name: string, context: Context, span: Span): void {
  if (/^\s*[A-Za-z_]\w*\[/.test(name)) evaluateAgain(name, context, span);
}

/** Runs the substitutions of a text that the parser did not take apart, as words of a command. */
export function evaluateWords(text: string, context: Context, span: Span): void {
  if (/[<>]\(/.test(text)) context.run.runText({ text: `: ${text}`, context, span, foreign: true });
  else evaluateAgain(text, context, span);
}
