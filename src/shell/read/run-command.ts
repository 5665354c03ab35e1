import { languageOf } from "../code/languages.js";
import { LIMITS } from "../limits.js";
import { isDecoder } from "../rules/flows.js";
import { codeCommands, codeScript } from "../rules/interpreters.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { evaluateNumber } from "./assignments.js";
import { anyOf, branchInside, folderOf, joinBranches, joinWhole, leaveBranch, perhaps } from "./branches.js";
import { BUILTINS } from "./builtins.js";
import { quoteWord } from "./canonical.js";
import { judgeRecipes, loadedPrograms } from "./carried-files.js";
import { type Context, type Emitted, type FunctionCall, type Invocation, report } from "./context.js";
import { judgeFetchedRun, noteFetchedFolder } from "./foreign-folders.js";
import { leavesEarly } from "./fork-bomb.js";
import { foldLookalikes } from "./normalise.js";
import { withScriptFile } from "./obeyed-files.js";
import { openOwnFile } from "./open-hermes.js";
import { wholeOptions } from "./option-names.js";
import { hasWildcard, matchesPattern } from "./pattern.js";
import { printedBy } from "./printed-text.js";
import { runOpening } from "./run-opening.js";
import { type FunctionBody, ShellState } from "./state.js";
import { inputOf, type Stream } from "./streams.js";
import { judgeAssignedCommands, judgeUnknownProgram } from "./unknown-programs.js";
import { completed } from "./working-folder.js";
import type { Opening } from "./wrapper-spec.js";
import { actsItself, openerOf } from "./wrappers.js";
import { isLooseCode, judgeFileRun, judgeSentFiles, madeFile, noteMadeFiles } from "./written-files.js";

/** What an expanded command comes to: a function, an alias, a carrier of another command, or a program. */
export function runArgv(invocation: Invocation): void {
  const { argv, context } = invocation;
  const { run } = context;
  const [name] = argv;
  if (run.budget.exceeded) return;
  if (context.depth > LIMITS.depth) {
    run.budget.exceed();
    return;
  }
  if (name === undefined) {
    runBare(invocation);
    return;
  }
  // `uv run a.py`: behind a wrapper it is no program of PATH.
  if (invocation.wrapped === true && /\.pyw?$/.test(name.text)) {
    runArgv({ ...invocation, argv: [PYTHON, ...argv] });
    return;
  }
  if (invocation.wrapped !== true && callFunction(invocation, name)) return;
  const isAlias = invocation.wrapped !== true && useAliases(invocation, name);
  for (const program of programsOf(name, run.notablePrograms)) {
    // Shells that no person types into leave aliases alone, so a program that matters counts as well.
    if (!isAlias || run.notablePrograms.has(program)) runProgram(invocation, program);
  }
}

const NO_NAME: ShellWord = { text: "", known: true, glob: false };
const PYTHON: ShellWord = { text: "python3", known: true, glob: false };

/** Only assignments or redirections. `$(< file)` prints the file. */
function runBare(invocation: Invocation): void {
  const { context, redirects } = invocation;
  if (invocation.assignments.length === 0 && redirects.length === 0) return;
  const command = emit(invocation, { program: "", name: NO_NAME });
  const source = redirects.find((redirect) => redirect.kind === "read");
  if (command === undefined || source === undefined || context.out === undefined) return;
  const content = madeFile(context.state, source.target.text)?.content;
  context.out.producedBy(command);
  if (content?.kind === "text") context.out.print(content.text);
  else context.out.printUnknown();
}

export function emit(
  invocation: Invocation,
  { program, name }: { readonly program: string; readonly name: ShellWord },
): Emitted | undefined {
  const { context, redirects } = invocation;
  const { run } = context;
  if (!run.budget.spend("commands")) return undefined;
  const command: Emitted = {
    program,
    name,
    args: wholeOptions(program, invocation.argv.slice(1)),
    assignments: invocation.assignments,
    redirects,
    input: inputOf(context.input),
    wrappers: context.wrappers,
    feeds: [],
    repeated: context.repeated,
    rounds: context.rounds,
    span: invocation.span,
  };
  run.commands.push(command);
  const there = completed(command, context);
  if (there.length > 0) run.variants.set(command, there);
  return command;
}

function callFunction(invocation: Invocation, name: ShellWord): boolean {
  const { context } = invocation;
  const { state } = context;
  const bodies = state.functionsOf(name.text);
  // Where it is defined only perhaps, the name may still be that of a program.
  const defined = bodies.length > 0 && state.isCovered(`${name.text}()`, context.branch);
  const [only] = bodies;
  if (defined && bodies.length === 1 && only !== undefined) {
    runBody(only, invocation);
    return true;
  }
  const branches = bodies.map((body) => {
    const inner = perhaps(context);
    runBody(body, { ...invocation, context: inner });
    return inner.branch;
  });
  if (defined) joinBranches(branches, context);
  return defined;
}

function runBody(body: FunctionBody, { context, argv, span }: Invocation): void {
  const { state, calls, forked, certain } = context;
  const name = argv[0]?.text ?? "";
  const call: FunctionCall = { name, body, forked, certain };
  const earlier = calls.findIndex((other) => other.body === body);
  if (earlier >= 0) {
    // In a pipe, a condition in front of the call ends the recursion some day.
    const endless = [...calls.slice(earlier + 1), call].some(
      (one) => one.forked === "background" || (one.forked === "pipe" && one.certain),
    );
    if (endless) report(context, "fork-bomb.function", { span });
    return;
  }
  for (const { text } of argv.slice(1)) evaluateNumber(text, context);
  const { positionals } = state.position;
  state.position = { ...state.position, positionals: [argv.slice(1)] };
  const inner = { ...context, calls: [...calls, call], forked: "no" as const, depth: context.depth + 1 };
  // Behind a `return` that may come true, the rest of the function runs only perhaps.
  const branch = leavesEarly(body) ? branchInside(inner, "call") : undefined;
  state.withLocals(() => context.run.walk(body, branch === undefined ? inner : { ...inner, branch }));
  if (branch !== undefined) joinWhole(branch, context);
  state.position = { ...anyOf([state.position, ...(branch?.exits ?? [])]), positionals };
}

function useAliases(invocation: Invocation, name: ShellWord): boolean {
  const { context, argv, span } = invocation;
  const { aliases } = context.state;
  const [next] = argv.slice(1);
  const texts = aliases.get(name.text) ?? [];
  for (const meant of texts) {
    // A blank at its end makes the next word an alias as well: `alias sudo='sudo '`.
    const also = /\s$/.test(meant) && next !== undefined ? aliases.get(next.text) : undefined;
    const rest = argv.slice(also === undefined ? 1 : 2).map(quoteWord);
    for (const second of also ?? [undefined]) {
      const text = [meant, ...(second === undefined ? [] : [second]), ...rest].join(" ");
      // An alias may name the program it stands in for: `alias ls='ls -l'`.
      const state = new ShellState(context.state);
      state.aliases.set(name.text, undefined);
      context.run.runText({ text, context: { ...context, state }, span });
    }
  }
  return texts.length > 0;
}

function runProgram(invocation: Invocation, program: string): void {
  const { context, argv } = invocation;
  const name = argv[0] as ShellWord;
  const command = emit(invocation, { program, name });
  if (command === undefined) return;
  if (program === "" && !runsProjectFile(name) && !isCustomaryVariable(name)) {
    report(context, "opaque.program", { span: name.span ?? invocation.span, command });
  }
  if (name.known && name.outputs?.some(isDecoder) === true)
    report(context, "opaque.decoded-input", { span: name.span ?? invocation.span, command });
  if (name.text.includes("/")) runFile(invocation, command, name);
  BUILTINS.get(program)?.(command, context);
  leaveBranch(command, context);
  const own = openOwnFile(command);
  if (own !== undefined) runOpening(own, { invocation, command });
  judgeAssignedCommands(command, invocation);
  judgeRecipes(command, invocation);
  judgeFetchedRun(command, invocation);
  judgeSentFiles(command, invocation);
  const openings = openingsOf(command, context);
  for (const opening of openings) runOpening(opening, { invocation, command });
  if (openings.length > 0 && !actsItself(program)) {
    context.run.carriers.add(command);
    return;
  }
  runCode(command, invocation);
  if (!isInterpreter(program, context)) judgeUnknownProgram(command, invocation);
  noteMadeFiles(command, context);
  noteFetchedFolder(command, context.state);
  print(command, context);
}

/** Programs in other languages come to shell commands as well: those they start, and those that do the same. */
function runCode(command: SimpleCommand, invocation: Invocation): void {
  const { context, span } = invocation;
  const { state } = context;
  const scripted = withScriptFile(command, state);
  for (const each of [...(scripted === undefined ? [] : [scripted]), ...loadedPrograms(command, state)])
    runFileText(each, { command, invocation });
  if (!isInterpreter(command.program, context)) return;
  runCodeOf(command, { command, invocation });
  const script = codeScript(command);
  if (script === undefined) return;
  const made = madeFile(state, script.text);
  const place = { span: script.span ?? span, command };
  if (made?.foreign === true) report(context, "opaque.downloaded-script", place);
  else if (made === undefined && isLooseCode(script, context))
    report(context, "opaque.untrusted-script", place);
}

/** A command whose program stands in a file: judged once more as if the text had been given to it. */
function runFileText(
  scripted: SimpleCommand,
  { command, invocation }: { readonly command: SimpleCommand; readonly invocation: Invocation },
): void {
  const { context } = invocation;
  const { run } = context;
  const text = scripted.input.kind === "text" ? scripted.input.text.text : "";
  const key = `${command.program} ${text}`;
  if (!run.budget.spend("parsed", text.length) || run.openScripts.has(key)) return;
  run.variants.set(command, [...(run.variants.get(command) ?? []), scripted]);
  run.openScripts.add(key);
  runCodeOf(scripted, { command, invocation });
  const fed = { ...context, input: { kind: "text", text, from: [] } satisfies Stream };
  for (const opening of openingsOf(scripted, fed))
    runOpening(opening, { invocation: { ...invocation, context: fed }, command });
  if (!isInterpreter(scripted.program, context)) judgeUnknownProgram(scripted, invocation);
  run.openScripts.delete(key);
}

function runCodeOf(
  code: SimpleCommand,
  { command, invocation }: { readonly command: SimpleCommand; readonly invocation: Invocation },
): void {
  const { context, span } = invocation;
  for (const text of codeCommands(code)?.shell ?? []) {
    const inner = { ...context, state: new ShellState(context.state, "process"), out: undefined };
    context.run.runText({ text, context: inner, span, carrier: command, foreign: true });
  }
}

/** Asked once for each name: most lines repeat a few programs that are none. */
function isInterpreter(program: string, { run: { interpreters } }: Context): boolean {
  const known = interpreters.get(program);
  if (known !== undefined) return known;
  const answer = /sed$/.test(program) || languageOf(program) !== undefined;
  interpreters.set(program, answer);
  return answer;
}

/** `./$name`, `bin/$name`: a file of the project, whichever it is. */
function runsProjectFile(name: ShellWord): boolean {
  return name.text.includes("/") && !/^[/~]/.test(name.text) && !name.text.startsWith(UNKNOWN);
}

function runFile(invocation: Invocation, command: SimpleCommand, path: ShellWord): void {
  const { context, span, argv } = invocation;
  const stands = madeFile(context.state, path.text)?.program;
  if (stands !== undefined && invocation.wrapped !== true) {
    const name = { text: stands, known: true, glob: false };
    context.run.runArgv({ ...invocation, argv: [name, ...argv.slice(1)], wrapped: true });
  }
  judgeFileRun({
    path,
    context,
    span,
    command,
    direct: true,
    onText: (text, from) => {
      // Another interpreter's program is judged by the rules for it, as if it came on standard input.
      if (isForeignScript(text)) report(context, "opaque.made-executable", { span, command });
      else context.run.runText({ text, context, span, carrier: command, positional: argv.slice(1), from });
    },
  });
}

/** A program in another language: nothing here could read it. */
function isForeignScript(text: string): boolean {
  return /^#!(?!.*\b(?:ba|da|z|k|a)?sh\b)/.test(text);
}

function openingsOf(command: SimpleCommand, context: Context): readonly Opening[] {
  const opener = openerOf(command.program);
  if (opener === undefined) return [];
  const { input } = context;
  return opener(command.args, {
    program: command.program,
    stdin: input.kind === "text" ? input.text : undefined,
    fed: input.kind !== "none",
    assignments: command.assignments,
    fileText: (path) => {
      const content = madeFile(context.state, path)?.content;
      return content?.kind === "text" ? content.text : undefined;
    },
  });
}

function print(command: SimpleCommand, context: Context): void {
  const { out, input, state } = context;
  if (out === undefined) return;
  out.producedBy(command);
  const text = printedBy(command, { input, state, folder: () => folderOf(context) });
  if (text === undefined) out.printUnknown();
  else out.print(text);
}

/** Names a pattern may stand for; more than these would only repeat the same verdicts. */
const MOST_NAMES = 48;

/**
 * The programs a word may start, in lower case and without folder: one for a plain word, several for a
 * pattern such as `/bin/r?`, and `""` for a word nobody can foresee.
 */
export function programsOf(word: ShellWord, notable: ReadonlySet<string>): readonly string[] {
  if (!word.glob && /^[\w+-]+$/.test(word.text)) return [word.text.toLowerCase()];
  const last = word.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const name = foldLookalikes(last.replaceAll(UNKNOWN, ""))
    .toLowerCase()
    .replace(/\.exe$/, "");
  if (!word.glob || !hasWildcard(name)) return [name];
  const meant: string[] = [];
  for (const known of notable) {
    if (meant.length < MOST_NAMES && matchesPattern(name, known)) meant.push(known);
  }
  return meant.length === 0 ? [name] : meant;
}

/** Variables that by custom hold the name of a harmless program the person chose. */
const CUSTOMARY = new Set(
  (
    "EDITOR VISUAL PAGER BROWSER PYTHON PYTHON3 PIP NODE NPM CC CXX CPP LD AR RANLIB STRIP NM OBJCOPY OBJDUMP AS GO " +
    "CARGO RUSTC MAKE CMAKE NINJA JAVA JAVAC MVN GRADLE RUBY PERL PHP LUA GIT DOCKER KUBECTL HELM TERRAFORM CMAKE_COMMAND"
  ).split(" "),
);

export function isCustomaryVariable(word: ShellWord): boolean {
  return (
    word.outputs === undefined &&
    word.variables !== undefined &&
    word.variables.length === 1 &&
    CUSTOMARY.has(word.variables[0] ?? "")
  );
}
