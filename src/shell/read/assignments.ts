import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { type Context, evaluateAgain, evaluateSubscript } from "./context.js";
import { valueOfParameter } from "./expand-parameters.js";
import { expandText, expandWord, mergeValues } from "./expand-words.js";
import type { Assignment, Word } from "./parse.js";
import { ShellState, type Value } from "./state.js";

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
  const text = `${assignment.name}${assignment.append === true ? "+" : ""}=${value.text}`;
  const word: ShellWord = {
    text,
    known: !text.includes(UNKNOWN),
    glob: false,
    variables: value.variables,
    outputs: value.outputs,
    span,
  };
  if (value.items !== undefined) declaredArrays.set(word, value);
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
  evaluateNumber(value.text, context);
  if (exported) state.export(assignment.name);
  return [{ name: assignment.name, value: wordOf(value) }];
}

/** `BASH_ALIASES[x]='cmd'`, `BASH_CMDS[x]=/bin/cmd`: what bash will take for the name from now on. */
export function noteLookup(name: string, value: Value, context: Context): void {
  if (name !== "BASH_ALIASES" && name !== "BASH_CMDS") return;
  for (const { key = "", text } of itemsOf(value)) {
    context.state.defineAlias(key, text, context);
    // Like any alias it is judged when it is defined: who uses it later sees only its name.
    if (name === "BASH_ALIASES") context.run.runText({ text, context, span: context.origin ?? [0, 0] });
  }
}

/** A value such as `a[$(cmd)]` runs the command wherever it is used as a number, and it is good for nothing else. */
export function evaluateNumber(text: string, context: Context): void {
  if (text.includes("[")) evaluateSubscript(text, context, context.origin ?? [0, 0]);
}

function wordOf({ text, variables, outputs }: Value): ShellWord {
  return {
    text,
    variables,
    outputs,
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

/** Arrays: lists of items, with names of their own where they are not simply counted from zero. */

export interface ArrayItem {
  /** Absent for items that are counted. */
  readonly key?: string;
  readonly text: string;
}

/** Longer arrays are stood for by their beginning and one item nobody knows. */
const MOST_ITEMS = 256;

/** True when further items would change nothing that is known about it. */
export function isFull({ items = [], keys }: Value): boolean {
  return keys === undefined && items.length > MOST_ITEMS;
}

export function arrayOf(given: readonly ArrayItem[]): Value {
  const shown = given.length > MOST_ITEMS ? [...given.slice(0, MOST_ITEMS), { text: UNKNOWN }] : given;
  const keys = keysOf(shown);
  if (keys === undefined) return { text: shown[0]?.text ?? "", items: shown.map((item) => item.text) };
  const placed = inOrder(shown.map(({ text }, index) => ({ text, key: keys[index] ?? "" })));
  return {
    text: placed[0]?.text ?? "",
    items: placed.map((item) => item.text),
    keys: placed.map((item) => item.key),
  };
}

/** A counted item comes behind the one before it. */
function keysOf(items: readonly ArrayItem[]): readonly string[] | undefined {
  if (items.every((item, index) => item.key === undefined || item.key === String(index))) return undefined;
  let last = -1;
  return items.map(({ key }) => {
    const position = key === undefined ? last + 1 : Number(key);
    if (Number.isSafeInteger(position)) last = position;
    return key ?? String(position);
  });
}

export function itemsOf(value: Value | undefined): readonly ArrayItem[] {
  const { items, keys, text = "" } = value ?? {};
  if (items === undefined) return text === "" ? [] : [{ text, key: "0" }];
  return items.map((item, index) => ({ text: item, key: keys?.[index] ?? String(index) }));
}

/** `a[key]=text`. */
export function withItem(value: Value | undefined, key: string, text: string): Value {
  const items: ArrayItem[] = [...itemsOf(value)];
  const at = items.findIndex((item) => item.key === key);
  if (at >= 0) items[at] = { key, text };
  else items.push({ key, text });
  return arrayOf(items);
}

/** Numbered items stand in the order of their numbers, whenever they were given. */
function inOrder(items: { key: string; text: string }[]): typeof items {
  if (!items.every((item) => /^\d{1,9}$/.test(item.key))) return items;
  return items.sort((one, other) => Number(one.key) - Number(other.key));
}

/** `${a[key]}`; undefined when nobody can tell which item is meant. */
export function itemAt({ items = [], keys }: Value, key: string): string | undefined {
  if (keys !== undefined) {
    const at = keys.indexOf(key);
    if (at >= 0) return items[at];
    return key.includes(UNKNOWN) || keys.some((known) => known.includes(UNKNOWN)) ? undefined : "";
  }
  return /^-?\d{1,6}$/.test(key) ? (items.at(Number(key)) ?? "") : undefined;
}
