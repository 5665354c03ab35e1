import type { ShellInput, ShellRedirect, ShellWord, SimpleCommand } from "../types.js";

/** Longer keys cost more than asking the rules again. */
const LONGEST_KEY = 1_000;
const MOST_WORDS = 32;
const MOST_LINKED = 12;

/**
 * A text that two commands share only if no rule can tell them apart: everything about them but their places,
 * and the same about every command they are connected with by pipes and substitutions. Undefined when that
 * is too much to be worth it.
 */
export function keyOf(command: SimpleCommand): string | undefined {
  const linked = [command];
  let key = "";
  for (let at = 0; at < linked.length; at++) {
    key += ownKey(linked[at] as SimpleCommand, linked);
    if (linked.length > MOST_LINKED || key.length > LONGEST_KEY) return undefined;
  }
  return key;
}

/** Texts stand behind their length and lists behind their size, so that no text can pretend to be more than one. */
function ownKey(command: SimpleCommand, linked: SimpleCommand[]): string {
  const { program, name, args, assignments, redirects, wrappers, feeds, repeated } = command;
  if (args.length + assignments.length + redirects.length > MOST_WORDS) return TOO_LONG;
  let key = `${repeated ? "R" : "C"}${args.length},${assignments.length},${redirects.length},${wrappers.length}`;
  key += name.text === program ? "=" : textKey(program);
  key += wordKey(name, linked);
  for (const word of args) key += wordKey(word, linked);
  for (const { name: variable, value } of assignments) key += textKey(variable) + wordKey(value, linked);
  for (const redirect of redirects) key += redirectKey(redirect, linked);
  for (const { kind, program: wrapper } of wrappers) key += kind + textKey(wrapper);
  return `${key}${inputKey(command.input, linked)}${linksKey(feeds, linked)}`;
}

const TOO_LONG = "-".repeat(LONGEST_KEY + 1);

function textKey(text: string): string {
  return text.length > LONGEST_KEY ? TOO_LONG : `${text.length}:${text}`;
}

function redirectKey(redirect: ShellRedirect, linked: SimpleCommand[]): string {
  const printed = "standardOutput" in redirect && redirect.standardOutput === true;
  return `${redirect.kind}${printed ? "!" : "."}${wordKey(redirect.target, linked)}`;
}

function inputKey(input: ShellInput, linked: SimpleCommand[]): string {
  switch (input.kind) {
    case "none":
      return "n";
    case "text":
      return `t${wordKey(input.text, linked)}`;
    case "file":
      return `f${wordKey(input.path, linked)}`;
    case "commands":
      return `c${linksKey(input.from, linked)}`;
  }
}

/** Whether it has a place matters as well, since findings point at it. */
function wordKey(word: ShellWord, linked: SimpleCommand[]): string {
  const { text, variables, outputs } = word;
  const form = (word.known ? 1 : 0) + (word.glob ? 2 : 0) + (word.span === undefined ? 4 : 0);
  const key = `w${form}${textKey(text)}`;
  if (variables === undefined && outputs === undefined) return key;
  return `${key}v${(variables ?? []).map(textKey).join("")}${linksKey(outputs ?? [], linked)}`;
}

const numbers = new WeakMap<readonly SimpleCommand[], number>();
let lastNumber = 0;

/** The commands of one stage of a pipe share the list of those that read them: the same list, the same commands. */
function numberOf(commands: readonly SimpleCommand[]): number {
  const known = numbers.get(commands);
  if (known !== undefined) return known;
  numbers.set(commands, ++lastNumber);
  return lastNumber;
}

function linksKey(commands: readonly SimpleCommand[], linked: SimpleCommand[]): string {
  if (commands.length === 0) return ";";
  if (commands.length > MOST_LINKED) return `#${numberOf(commands)};`;
  let key = "";
  for (const command of commands) {
    const known = linked.indexOf(command);
    key += `l${known < 0 ? linked.push(command) - 1 : known}`;
  }
  return `${key};`;
}
