import type { Span } from "../types.js";
import {
  type Assignment,
  type Command,
  forEachChild,
  parseShell,
  type Redirection,
  type Script,
  type SyntaxNode,
  type Word,
} from "./parse.js";

/** A command as it is written: nothing is expanded and no wrapper opened, only the quotes are undone. */
export interface WrittenCommand {
  readonly words: readonly string[];
  /** The same words with their quotes. */
  readonly spelled: readonly string[];
  /** False with a redirection or a substitution in it. */
  readonly plain: boolean;
  /** Variables are set in front of it. */
  readonly assigns: boolean;
  readonly span: Span;
}

/** The syntax of a line, for questions that need no more. What it would run is told by `readCommandLine`. */
export interface Outline {
  /** Each behind the substitutions in it; those of functions stand where they are defined. */
  readonly commands: readonly WrittenCommand[];
  /** Its first parts, up to one that is not a command alone, or is not followed by `&&`, `;` or a new line. */
  readonly steps: readonly Step[];
  /** One plain command and nothing around it. */
  readonly simple: boolean;
  /** Some part of it is started with `&`. */
  readonly background: boolean;
  /** Its last part is started with `&`. */
  readonly endsInBackground: boolean;
}

/** A command of a line, and whether what follows it runs only when it has worked. */
export interface Step {
  readonly command: WrittenCommand;
  readonly next: "if it works" | "always";
}

/** Undefined for text that is not valid shell. */
export function outlineOf(text: string): Outline | undefined {
  const script = parseShell(text);
  if (script === undefined) return undefined;
  const commands: WrittenCommand[] = [];
  let background = false;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Statement" && node.background === true) background = true;
    forEachChild(node, visit);
    if (node.type === "Command") commands.push(writtenCommand(node));
    else if (node.type === "TestCommand")
      commands.push({
        words: ["[["],
        spelled: ["[["],
        plain: false,
        assigns: false,
        span: [node.pos, node.end],
      });
  };
  visit(script);
  const [only] = script.commands;
  const simple =
    script.commands.length === 1 &&
    only?.command.type === "Command" &&
    !background &&
    commands.length === 1 &&
    commands[0]?.plain === true;
  const steps = stepsOf(script);
  return { commands, steps, simple, background, endsInBackground: endsInBackground(script) };
}

function stepsOf(script: Script): readonly Step[] {
  const steps: Step[] = [];
  for (const [index, { command, background }] of script.commands.entries()) {
    const parts = command.type === "AndOr" ? command.commands : [command];
    const operators = command.type === "AndOr" ? command.operators : [];
    const ends = index === script.commands.length - 1;
    // What follows a part in the background does not know where that one goes.
    if (background === true && !ends) return steps;
    for (const [at, part] of parts.entries()) {
      const isLast = at === parts.length - 1;
      if (part.type !== "Command" || (isLast ? ends : operators[at] !== "&&")) return steps;
      steps.push({ command: writtenCommand(part), next: isLast ? "always" : "if it works" });
    }
  }
  return steps;
}

function writtenCommand(node: Command): WrittenCommand {
  const words = [...(node.name === undefined ? [] : [node.name]), ...node.suffix];
  const written = words.filter((word) => word.type === "Word");
  return {
    words: written.map(({ value }) => value),
    spelled: written.map(({ text }) => text),
    assigns: node.prefix.some((part) => part.type === "Assignment"),
    plain: node.prefix.every(isPlain) && words.every(isPlain),
    span: [node.pos, node.end],
  };
}

function isPlain(part: Assignment | Redirection | Word): boolean {
  return (part.type === "Word" || part.type === "Assignment") && !/`|[$<>]\(/.test(part.text);
}

function endsInBackground(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Script":
    case "CompoundList": {
      const last = node.commands.at(-1);
      return last !== undefined && endsInBackground(last);
    }
    case "Statement":
      return node.background === true || endsInBackground(node.command);
    case "Subshell":
    case "BraceGroup":
      return endsInBackground(node.body);
    default:
      return false;
  }
}
