import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { type ArrayItem, arrayOf, isFull, itemsOf, withItem } from "./arrays.js";
import type { Context } from "./context.js";
import { evaluateAgain } from "./evaluated-again.js";
import { mergeValues } from "./fields.js";
import { valueOfParameter } from "./parameters.js";
import type { Assignment, Word } from "./parse.js";
import { ShellState, type Value } from "./state.js";
import { expandText, expandWord } from "./words.js";

/** Variables that hold more than a command are not followed: doubling them is the oldest trick. */
const LONGEST_VALUE = 16_384;

const declaredArrays = new WeakMap<ShellWord, Value>();

/** The array that a word of `declare` and its kin stands for; a word itself cannot hold one. */
export function declaredArray(word: ShellWord): Value | undefined {
  return declaredArrays.get(word);
}

/** `export A=b`: a word of the command, which the builtin assigns. */
export function declaredWord(assignment: Assignment, context: Context): ShellWord {
  const span = context.origin === undefined ? ([assignment.pos, assignment.end] as const) : undefined;
  const value = addsText(assignment)
    ? expandText(assignment.value, context)
    : assignedValue(assignment, context);
  const { items, keys: _keys, ...plain } = value;
  const text = `${assignment.name}${assignment.append === true ? "+" : ""}=${value.text}`;
  const word: ShellWord = {
    ...plain,
    text,
    known: !text.includes(UNKNOWN),
    glob: false,
    ...(span !== undefined && { span }),
  };
  if (items !== undefined) declaredArrays.set(word, value);
  return word;
}

/** `declare A+=b`: the builtin adds it, to each of the values there may be. */
function addsText(assignment: Assignment): assignment is Assignment & { readonly value: Word } {
  return (
    assignment.append === true && assignment.index === undefined && assignment.value.type !== "ArrayValue"
  );
}

export function assign(
  assignment: Assignment,
  context: Context,
  { exported = false } = {},
): SimpleCommand["assignments"] {
  const { state } = context;
  const value = assignedValue(assignment, context);
  assignVariable(assignment.name, value, context);
  if (exported) state.export(assignment.name);
  return [{ name: assignment.name, value: wordOf(value) }];
}

function wordOf({ text, variables, outputs }: Value): ShellWord {
  return {
    text,
    ...(variables !== undefined && { variables }),
    ...(outputs !== undefined && { outputs }),
    known: !text.includes(UNKNOWN),
    glob: false,
  };
}

/** A name that only stands for another one passes on what it is given. */
export function assignVariable(
  name: string,
  value: Value,
  { state, certain, branch }: Pick<Context, "state" | "certain" | "branch">,
): void {
  const unset = state.valuesOf(name)?.[0]?.meant === "";
  const given = unset ? { ...value, meant: value.text } : value;
  state.assign(assignedName(name, state), [given], { certain, branch });
}

/** The variable that an assignment to this name changes. */
export function assignedName(name: string, state: ShellState): string {
  const meant = state.valuesOf(name)?.[0]?.meant ?? "";
  return meant === "" ? name : meant.replace(/\[.*$/s, "");
}

function assignedValue(assignment: Assignment, context: Context): Value {
  const { name } = assignment;
  const added = assignment.append === true || assignment.index !== undefined;
  const known = added && context.state.valuesOf(name) !== undefined;
  const before = known ? valueOfParameter(name, context) : undefined;
  const given = combined(assignment, before, context);
  return given.text.length > LONGEST_VALUE ? { ...given, text: UNKNOWN } : given;
}

function combined(assignment: Assignment, before: Value | undefined, context: Context): Value {
  const { value: given, append, index } = assignment;
  if (given.type === "ArrayValue") {
    const items = given.elements.flatMap((element) => itemsFrom(element, context));
    if (append === true && before !== undefined && isFull(before)) return before;
    return arrayOf(append === true ? [...itemsOf(before), ...items] : items);
  }
  const value = expandText(given, context);
  if (index !== undefined) {
    const key = expandText(index, context).text;
    const whole = key.includes(UNKNOWN) ? [...itemsOf(before), value, { text: UNKNOWN }] : undefined;
    const { text, ...origins } = value;
    return { ...origins, ...(whole === undefined ? withItem(before, key, text) : arrayOf(whole)) };
  }
  if (append !== true) return value;
  return mergeValues([before ?? { text: UNKNOWN }, value]);
}

/** `[key]=text` is one item, everything else as many as it makes words. */
function itemsFrom(element: Word, context: Context): readonly ArrayItem[] {
  if (!/^\[[\s\S]*?\]\+?=/.test(element.text)) return expandWord(element, context);
  const { text } = expandText(element, context);
  const match = /^\[([\s\S]*?)\]\+?=([\s\S]*)$/.exec(text);
  return match === null ? [{ text }] : [{ key: match[1] ?? "", text: match[2] ?? "" }];
}

/** Variables whose value some program hands to a shell. */
const COMMAND_VARIABLES = new Set(
  (
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND " +
    "EDITOR VISUAL FCEDIT PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SUDO_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER"
  ).split(" "),
);

/** Expanded whenever the shell asks for a line, or shows one with `set -x`. */
const PROMPTS = new Set(["PS0", "PS1", "PS2", "PS4"]);

export function runCommandVariable(
  name: string,
  task: { readonly value: ShellWord; readonly context: Context; readonly span: Span },
): void {
  const { value, context, span } = task;
  if (PROMPTS.has(name)) evaluateAgain(value.text, context, span);
  if (!COMMAND_VARIABLES.has(name) || !value.known || value.text.trim() === "") return;
  const text = value.text.replace(/^\|-?\s*/, "").replaceAll("%s", UNKNOWN);
  const state = new ShellState(context.state, "process");
  context.run.runText({ text, context: { ...context, state, out: undefined }, span, foreign: true });
}
