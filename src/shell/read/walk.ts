import { LIMITS } from "../limits.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { anyOf, branchInside, joinWhole, perhaps, positionalOf } from "./branches.js";
import { walkAndOr, walkCase, walkIf } from "./conditions.js";
import { type Context, type Emitted, type Run, report, spanOf } from "./context.js";
import { expandWords, walkArithmetic, walkTest } from "./expand-words.js";
import { alwaysTrue, callsItselfForked, spawnsForever } from "./fork-bomb.js";
import type {
  CompoundList,
  For,
  Pipeline,
  Redirected,
  Select,
  Statement,
  SyntaxNode,
  While,
} from "./parse.js";
import {
  multiplied,
  roundsOfArithmetic,
  roundsOfClause,
  roundsOfFor,
  roundsOfInput,
  roundsOfWhile,
  startsCrowd,
} from "./rounds.js";
import { forEachChoice, runRedirected, runSimple } from "./simple-command.js";
import { ShellState, type Value } from "./state.js";
import { MOST_PRODUCERS, Output, type Stream } from "./streams.js";

/** Goes through the tree in the order of the text. Short-circuits do not matter: every command counts. */
export function walk(node: SyntaxNode, context: Context): void {
  if (context.run.budget.exceeded) return;
  switch (node.type) {
    case "Script":
    case "CompoundList":
      for (const statement of node.commands) walkStatement(statement, context);
      return;
    case "Statement":
      walkStatement(node, context);
      return;
    case "AndOr":
      walkAndOr(node, context);
      return;
    case "Pipeline":
      walkPipeline(node, context);
      return;
    case "Command":
      runSimple(node, context);
      return;
    case "Redirected":
      walkRedirected(node, context);
      return;
    case "BraceGroup":
      walk(node.body, context);
      return;
    case "Subshell":
      walk(node.body, { ...context, state: new ShellState(context.state) });
      return;
    case "If":
      walkIf(node, context);
      return;
    case "While":
      walkWhile(node, context);
      return;
    case "For":
    case "Select":
      walkFor(node, context);
      return;
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update]) walkArithmetic(part, context);
      if (node.test === undefined) judgeEndless(node, undefined, context);
      walkLoopBody(node.body, context, { rounds: roundsOfArithmetic(node.test, node.body) });
      return;
    case "Case":
      walkCase(node, context);
      return;
    case "Function": {
      const name = node.name.value;
      context.state.defineFunction(name, node.body, context);
      if (callsItselfForked(name, node.body)) {
        report(context, "fork-bomb.function", { span: spanOf(node, context) });
      }
      // Nobody calls it by name: any mistyped word does.
      if (/^command_not_found_handler?$/.test(name)) walk(node.body, perhaps(context));
      return;
    }
    case "Coproc":
      // Whatever is written into its pipe later.
      walk(node.body, {
        ...context,
        input: { kind: "text", text: `${UNKNOWN}\n`, from: [] },
        state: new ShellState(context.state),
        forked: "background",
      });
      return;
    case "ArithmeticCommand":
      walkArithmetic(node.expression, context);
      if (readsLikeCommand(node.body, context))
        context.run.runText({ text: node.body, context, span: spanOf(node, context), foreign: true });
      return;
    case "TestCommand":
      walkTest(node, context);
      return;
    default:
      return;
  }
}

/** `((rm -rf x))`: a calculation for bash, a subshell in a subshell for other shells. */
function readsLikeCommand(body: string, { run }: Context): boolean {
  const name = /^\s*([\w./-]+)\s+(?![=<>!&|^*/%?:,+])\S/.exec(body)?.[1]?.split("/").at(-1) ?? "";
  return run.notablePrograms.has(name);
}

function walkStatement(statement: Statement, context: Context): void {
  if (statement.background !== true) walk(statement.command, context);
  // What it sets stays in a shell of its own.
  else walk(statement.command, { ...context, state: new ShellState(context.state), forked: "background" });
}

/** Each stage reads what the stages before it print. */
function walkPipeline(node: Pipeline, context: Context): void {
  const { run } = context;
  const [only] = node.commands;
  if (node.commands.length === 1 && only !== undefined) {
    walk(only, context);
    return;
  }
  if (node.commands.length > LIMITS.stages) {
    run.budget.exceed();
    return;
  }
  const starts: number[] = [];
  let input: Stream = context.input;
  for (const [index, command] of node.commands.entries()) {
    const last = index === node.commands.length - 1;
    const out = last ? context.out : new Output();
    starts.push(run.commands.length);
    const forked = context.forked === "background" ? "background" : "pipe";
    walk(command, { ...context, state: new ShellState(context.state), input, out, forked });
    if (last || out === undefined) break;
    const before: readonly SimpleCommand[] = input.kind === "text" && index > 0 ? input.from : [];
    input = { kind: "text", text: out.text, from: [...before, ...out.from].slice(-MOST_PRODUCERS) };
  }
  linkFeeds(run, starts);
}

/** Every command of a stage feeds every command of the stages after it; they share one list. */
function linkFeeds(run: Run, starts: readonly number[]): void {
  let later: readonly SimpleCommand[] = [];
  let end = run.commands.length;
  for (const start of [...starts].reverse()) {
    const stage = run.commands.slice(start, end);
    if (later.length > 0) feed(run, stage, later);
    later = stage.length === 0 ? later : [...stage, ...later];
    end = start;
    if (later.length > LIMITS.readers && start > (starts[0] ?? 0)) run.budget.exceed();
    if (run.budget.exceeded) return;
  }
}

function feed(run: Run, stage: readonly Emitted[], later: readonly SimpleCommand[]): void {
  // Pipes inside this stage have given their commands lists already.
  const longer = new Map<readonly SimpleCommand[], readonly SimpleCommand[]>();
  for (const command of stage) {
    const own = command.feeds;
    const feeds = own.length === 0 ? later : (longer.get(own) ?? [...own, ...later]);
    if (own.length > 0) longer.set(own, feeds);
    command.feeds = feeds;
    for (const there of run.variants.get(command) ?? []) there.feeds = feeds;
  }
}

function walkRedirected(node: Redirected, context: Context): void {
  runRedirected(node, context, (inner) => walk(node.command, inner));
}

function judgeEndless(
  node: SyntaxNode & { readonly body: CompoundList },
  clause: CompoundList | undefined,
  context: Context,
): void {
  if (spawnsForever(clause, node.body)) report(context, "fork-bomb.loop", { span: spanOf(node, context) });
}

function walkWhile(node: While, context: Context): void {
  walk(node.clause, { ...context, repeated: true, rounds: multiplied(context.rounds, roundsOfClause(node)) });
  if (node.kind === "while") judgeEndless(node, node.clause, context);
  walkLoopBody(node.body, context, {
    atLeastOnce: node.kind === "while" && alwaysTrue(node.clause),
    rounds: namesRead(node.clause).length > 0 ? roundsOfInput(context.input) : roundsOfWhile(node),
  });
  // The loop ends when `read` finds nothing more, which leaves its variables empty.
  for (const name of namesRead(node.clause)) {
    context.state.assign(name, [{ text: "" }], { ...context, certain: false });
  }
}

function namesRead(clause: CompoundList): readonly string[] {
  return clause.commands.flatMap(({ command }) =>
    command.type === "Command" && command.name?.value === "read"
      ? command.suffix.flatMap((part) =>
          part.type === "Word" && /^\w+$/.test(part.value) ? [part.value] : [],
        )
      : [],
  );
}

/**
 * A second round when the first one changed variables that its own beginning may use; for the outermost loop
 * only, since rounds within rounds would double with every level.
 */
function walkLoopBody(body: CompoundList, context: Context, { atLeastOnce = false, rounds = 1 } = {}): void {
  if (startsCrowd(body, rounds)) report(context, "abuse.exhaust", { span: spanOf(body, context) });
  const branch = branchInside(context, "loop");
  const { position } = context.state;
  const inner = { ...perhaps(context, branch), repeated: true, rounds: multiplied(context.rounds, rounds) };
  const before = context.state.changes;
  walk(body, inner);
  if (context.state.changes !== before && !context.repeated) walk(body, inner);
  if (atLeastOnce) joinWhole(branch, context);
  context.state.position = anyOf([position, context.state.position, ...branch.exits]);
}

/** The variable of the loop may hold each of the words. */
function walkFor(node: For | Select, context: Context): void {
  const { state } = context;
  const words: ShellWord[] = [];
  forEachChoice(context, (inner) => {
    const some = node.wordlist === undefined ? positionalOf(inner) : expandWords(node.wordlist, inner);
    words.push(...(some ?? [{ text: UNKNOWN, known: false, glob: false }]));
  });
  const values = notableValues(words, context);
  const { value: name } = node.name;
  const before = state.remember(name);
  state.assign(name, values.length === 0 ? [{ text: "" }] : values, {
    certain: true,
    branch: context.branch,
  });
  // Patterns and variables may come to no word at all.
  const atLeastOnce =
    node.type === "For" && node.wordlist?.some((word) => !/[$`*?[]/.test(word.text)) === true;
  walkLoopBody(node.body, context, { atLeastOnce, rounds: roundsOfFor(node, words.length) });
  if (!atLeastOnce) state.maybeAsBefore(name, before, undefined);
  else if (!context.certain) state.maybeAsBefore(name, before, context);
}

/** Long lists of plain names say nothing new: a few stand for all, while everything that looks like a place or an option stays. */
const MOST_PLAIN = 16;
const MOST_NOTABLE = 64;

function notableValues(words: readonly ShellWord[], context: Context): readonly Value[] {
  const seen = new Map<string, Value>();
  let plain = 0;
  for (const word of words) {
    if (seen.has(word.text)) continue;
    const notable = /[/~*?[\s\uFFFC]|^-/.test(word.text) || context.run.notablePrograms.has(word.text);
    if (!notable && ++plain > MOST_PLAIN) continue;
    if (seen.size < MOST_NOTABLE) seen.set(word.text, word);
    else {
      seen.set(UNKNOWN, { text: UNKNOWN });
      break;
    }
  }
  return [...seen.values()];
}
