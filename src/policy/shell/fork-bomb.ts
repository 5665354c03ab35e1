import { type CompoundList, forEachChild, type Statement, type SyntaxNode } from "./parse.js";
import type { FunctionBody } from "./state.js";

/** True when a function starts itself again in the background, in a pipe or in a subshell. */
export function callsItselfForked(name: string, body: FunctionBody): boolean {
  let found = false;
  const search = (node: SyntaxNode, forked: boolean): void => {
    // Inside, the name may come to mean another function.
    if (found || (node.type === "Function" && node.name.value === name)) return;
    if (node.type === "Command" && node.name?.value === name && forked) {
      found = true;
      return;
    }
    const forks =
      forked ||
      (node.type === "Statement" && node.background === true) ||
      (node.type === "Pipeline" && node.commands.length > 1) ||
      node.type === "Subshell" ||
      node.type === "Coproc" ||
      node.type === "CommandExpansion";
    forEachChild(node, (child) => search(child, forks));
  };
  search(body, false);
  return found;
}

/** A loop that never ends and waits for nothing it starts. */
export function spawnsForever(clause: CompoundList | undefined, body: CompoundList): boolean {
  if (clause !== undefined && !alwaysTrue(clause)) return false;
  return body.commands.length > 0 && body.commands.every((statement) => statement.background === true);
}

function alwaysTrue(clause: CompoundList): boolean {
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
