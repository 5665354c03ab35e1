import type { ShellWord, SimpleCommand } from "../types.js";
import { branchInside } from "./branches.js";
import { type Context, type Invocation, report } from "./context.js";
import { multiplied, PACED, roundsOfInput } from "./rounds.js";
import { ShellState } from "./state.js";
import { enterFolder } from "./working-folder.js";
import type { Opening } from "./wrapper-spec.js";
import { judgeFileRun } from "./written-files.js";

interface Carrier {
  readonly invocation: Invocation;
  readonly command: SimpleCommand;
}

/** Runs what a carrier leads to: a program, a text, a script, or whatever arrives on standard input. */
export function runOpening(opening: Opening, carrier: Carrier): void {
  const { invocation, command } = carrier;
  if (opening.kind === "opaque") {
    report(invocation.context, "opaque.wrapper", { span: invocation.span, command });
    return;
  }
  const context = contextInside(opening, invocation.context);
  switch (opening.kind) {
    case "argv":
      context.run.runArgv({
        argv: opening.argv,
        assignments: opening.assignments ?? [],
        // The shell opened the files of the line here, not there.
        redirects: isAway(opening) ? [] : invocation.redirects,
        context,
        span: invocation.span,
        wrapped: true,
      });
      return;
    case "text":
      runShellText(opening.text, { opening, context, carrier });
      if (opening.later === true) runLater(opening.text, { opening, context, carrier });
      return;
    case "script":
      runScript(opening.path, { opening, context, carrier });
      return;
    case "input":
      if (context.input.kind === "file") runScript(context.input.path, { opening, context, carrier });
      else if (context.input.kind === "text") {
        const { text, from } = context.input;
        runShellText({ text, known: true, glob: false, outputs: from }, { opening, context, carrier });
      }
  }
}

type Inner = Exclude<Opening, { kind: "opaque" }>;
type ShellOpening = Exclude<Inner, { kind: "argv" }>;

interface Step {
  readonly opening: ShellOpening;
  readonly context: Context;
  readonly carrier: Carrier;
}

function roundsInside(opening: Inner, { input, repeated }: Context): number {
  if (opening.wrapper.program === "watch") return PACED;
  return !repeated && "repeated" in opening && opening.repeated === true ? roundsOfInput(input) : 1;
}

/** They change what surrounds a command, but neither the machine nor its files. */
const SAME_FILES = new Set(["unshare", "systemd-run"]);

function isAway({ wrapper }: Inner): boolean {
  return wrapper.kind === "remote" || (wrapper.kind === "container" && !SAME_FILES.has(wrapper.program));
}

function contextInside(opening: Inner, outer: Context): Context {
  const here = opening.kind === "argv" || ("here" in opening && opening.here === true);
  const repeated = outer.repeated || ("repeated" in opening && opening.repeated === true);
  const state = isAway(opening)
    ? new ShellState()
    : here
      ? ownState(opening, outer)
      : new ShellState(outer.state, "process");
  return {
    ...outer,
    wrappers: [...outer.wrappers, opening.wrapper],
    depth: outer.depth + (opening.kind === "argv" ? 1 : 0),
    repeated,
    rounds: multiplied(outer.rounds, roundsInside(opening, outer)),
    // A trap may never go off.
    ...("later" in opening && opening.later === true && { certain: false, branch: branchInside(outer) }),
    // Another machine knows nothing of this shell; a new shell here may know all of it.
    state: opening.kind === "argv" && opening.folder !== undefined ? inFolder(state, opening.folder) : state,
  };
}

/** What these carry runs in the shell itself and not as a program. */
const SAME_SHELL = new Set(["command", "builtin", "exec", "time"]);

function ownState({ kind, wrapper }: Inner, { state }: Context): ShellState {
  return kind === "argv" && !SAME_SHELL.has(wrapper.program) ? new ShellState(state) : state;
}

function inFolder(state: ShellState, folder: ShellWord): ShellState {
  const inner = new ShellState(state);
  enterFolder(folder, inner);
  return inner;
}

function runShellText(text: ShellWord, { opening, context, carrier }: Step): void {
  const { positional } = opening;
  context.run.runText({
    text: text.text,
    context,
    span: text.span ?? carrier.invocation.span,
    carrier: carrier.command,
    foreign: "foreign" in opening && opening.foreign === true,
    positional,
    zero: "zero" in opening ? opening.zero : undefined,
    from: text.outputs,
  });
}

/** Once more at the end, if what it may use has changed since. */
function runLater(text: ShellWord, step: Step): void {
  const { state, run } = step.context;
  const { changes, position } = state;
  run.later.push(() => {
    if (state.changes !== changes || state.position !== position) runShellText(text, step);
  });
}

function runScript(path: ShellWord, step: Step): void {
  const { span } = step.carrier.invocation;
  judgeFileRun({
    path,
    context: step.context,
    span,
    command: step.carrier.command,
    direct: false,
    onText: (text, from) => runShellText({ text, known: true, glob: false, span, outputs: from }, step),
  });
}
