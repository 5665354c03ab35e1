import type { Command } from "commander";
import { nearest } from "../config/did-you-mean.js";
import { failure, HermesError } from "../tool/errors.js";

/** A word that no argument takes: mostly a command that was mistyped. */
export function unexpectedWord(command: Command, word: string): HermesError {
  const family = command.commands.length > 0 ? command : command.parent;
  const names = (family?.commands ?? []).map((one) => one.name());
  const close = nearest(word, names).map((name) => `hermes ${pathOf(family)}${name}`);
  const said = command.parent === null ? `Unknown command: ${word}` : `Unexpected word: ${word}`;
  const help = `Run "hermes ${pathOf(command)}--help".`;
  return new HermesError(
    failure("bad_request", said, close.length > 0 ? `Did you mean ${close.join(", ")}?` : help),
  );
}

/** `tools ` for the tools command, nothing for the program itself. */
function pathOf(command: Command | null): string {
  const names: string[] = [];
  for (let one = command; one !== null && one.parent !== null; one = one.parent) names.unshift(one.name());
  return names.map((name) => `${name} `).join("");
}
