import { type CompoundList, forEachChild, type Statement, type SyntaxNode } from "./parse.js";
import type { FunctionBody } from "./state.js";

/**
 * True when a function starts itself again in the background, in two stages of one pipe, or, with nothing
 * that could stop it, in any process of its own. Functions that walk a tree ask something first.
 */
export function callsItselfForked(name: string, body: FunctionBody): boolean {
  const asked = leavesEarly(body);
  return search(body, { name, background: false, forked: false, asked });
}

/** `[ "$1" -eq 0 ] && return`: whatever follows is behind that condition. */
export function leavesEarly(node: SyntaxNode, asked = false): boolean {
  if (node.type === "Command") return asked && /^(?:return|exit)$/.test(node.name?.value ?? "");
  let found = false;
  forEachChild(node, (child) => {
    found ||= leavesEarly(child, asked || CONDITIONS.has(node.type));
  });
  return found;
}

interface Search {
  readonly name: string;
  readonly background: boolean;
  readonly forked: boolean;
  /** True behind a condition. */
  readonly asked: boolean;
}

function search(node: SyntaxNode, at: Search): boolean {
  // Inside, the name may come to mean another function.
  if (node.type === "Function" && node.name.value === at.name) return false;
  if (
    node.type === "Command" &&
    node.name?.value === at.name &&
    (at.background || (at.forked && !at.asked))
  ) {
    return true;
  }
  if (node.type === "Pipeline" && node.commands.filter((stage) => calls(stage, at.name)).length > 1)
    return true;
  const inner: Search = {
    name: at.name,
    background:
      at.background || (node.type === "Statement" && node.background === true) || node.type === "Coproc",
    forked: at.forked || FORKS.has(node.type) || (node.type === "Pipeline" && node.commands.length > 1),
    asked: at.asked || CONDITIONS.has(node.type),
  };
  let found = false;
  forEachChild(node, (child) => {
    found ||= search(child, inner);
  });
  return found;
}

const FORKS: ReadonlySet<string> = new Set(["Subshell", "CommandExpansion", "ProcessSubstitution"]);
const CONDITIONS: ReadonlySet<string> = new Set([
  "If",
  "Case",
  "While",
  "For",
  "ArithmeticFor",
  "Select",
  "AndOr",
]);

function calls(node: SyntaxNode, name: string): boolean {
  if (node.type === "Command" && node.name?.value === name) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= calls(child, name);
  });
  return found;
}

/** A loop that never ends and waits for nothing it starts. */
export function spawnsForever(clause: CompoundList | undefined, body: CompoundList): boolean {
  if (clause !== undefined && !alwaysTrue(clause)) return false;
  return body.commands.length > 0 && body.commands.every((statement) => statement.background === true);
}

export function alwaysTrue(clause: CompoundList): boolean {
  const [only] = clause.commands;
  return clause.commands.length === 1 && only !== undefined && isTrue(only);
}

function isTrue({ command }: Statement): boolean {
  if (command.type === "Command") {
    const name = command.name?.value.split("/").at(-1);
    if (name === "true" || name === ":") return true;
    return (
      name === "[" &&
      command.suffix.every((word) => word.type === "Word" && /^(?:1|true|\])$/.test(word.value))
    );
  }
  return command.type === "ArithmeticCommand" && /^\s*[1-9]\d*\s*$/.test(command.body);
}

/** `$0`, the script or shell that is running. */
export function namesItself(text: string): boolean {
  return /^"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})"?$/.test(text);
}
