import { UNKNOWN } from "../types.js";
import { itemAt } from "./assignments.js";
import { folderOf, positionalOf } from "./branches.js";
import { askFor, type Context, evaluateAgain, evaluateWords } from "./context.js";
import type { ParameterExpansionPart, ParameterOperation, Word } from "./parse.js";
import { hasWildcard, matchesPattern } from "./pattern.js";
import { SEPARATORS, type Value } from "./state.js";

/** Expands a word to one text, as the operand of `${x:-word}` needs it. */
export type ToText = (word: Word, context: Context) => Value;

const EMPTY: Value = { text: "" };
/** Longer texts are not cut and replaced: nobody hides a command in them, and it would take time. */
const LONGEST_EDIT = 4_096;

/** What the environment says about names that a command line rarely sets itself. */
function fromEnvironment(name: string, context: Context): Value {
  switch (name) {
    case "HOME":
      return { text: "~" };
    case "PWD":
      return { text: folderOf(context) ?? "." };
    case "FUNCNAME":
      return { text: context.calls.at(-1)?.name ?? "" };
    case "IFS":
      return { text: SEPARATORS };
    case "SHELL":
    case "BASH":
      return { text: "/bin/bash" };
    default:
      return { text: UNKNOWN, variables: [name] };
  }
}

/** `$name`, `$1`, `$@`: what it stands for here. */
export function valueOfParameter(name: string, context: Context, renamed = 0): Value {
  if (/^\d+$/.test(name)) {
    if (name === "0") return context.state.zero ?? { text: "bash" };
    const positional = positionalOf(context);
    if (positional === undefined) return { text: UNKNOWN, variables: [name] };
    return positional[Number(name) - 1] ?? EMPTY;
  }
  if (name === "@" || name === "*") {
    const positional = positionalOf(context);
    if (positional === undefined) return { text: UNKNOWN, variables: [name] };
    return joined(positional, name === "*" ? separatorOf(context) : " ");
  }
  if (name === "#") {
    const positional = positionalOf(context);
    return positional === undefined ? { text: UNKNOWN } : { text: String(positional.length) };
  }
  const values = context.state.valuesIn(name, context.branch);
  if (values === undefined) {
    context.run.given.add(name);
    return fromEnvironment(name, context);
  }
  if (values.length > 1) askFor(context.run.choice, name, values.length);
  const value = values[context.run.choice.picked.get(name) ?? 0] ?? values[0] ?? EMPTY;
  if (value.unset === true && values.length > 1) return valueFromOutside(name, value, context);
  if (value.meant === undefined) return value;
  const [, other = "", key] = /^(\w+)(?:\[([\s\S]*)\])?$/.exec(value.meant) ?? [];
  if (other === "" || renamed > MOST_NAMES) return { text: UNKNOWN, variables: [name] };
  const meant = valueOfParameter(other, context, renamed + 1);
  return key === undefined ? meant : atIndex(meant, { index: key, separator: " " });
}

/** A variable that was perhaps not set holds what it came with, and nothing when the line is the first to use it. */
function valueFromOutside(name: string, value: Value, context: Context): Value {
  const came = fromEnvironment(name, context);
  if (came.text !== UNKNOWN) return came;
  return context.run.given.has(name) ? { ...came, unset: true } : value;
}

/** Names for names for names; more of them go round in circles. */
const MOST_NAMES = 8;

/** `"$*"` and `"${a[*]}"` are joined by the first separator. */
function separatorOf(context: Context): string {
  return valueOfParameter("IFS", context).text.slice(0, 1);
}

function joined(words: readonly Value[], separator: string): Value {
  const variables = words.flatMap((word) => word.variables ?? []);
  const outputs = words.flatMap((word) => word.outputs ?? []);
  return {
    text: words.map((word) => word.text).join(separator),
    items: words.map((word) => word.text),
    variables: variables.length > 0 ? variables : undefined,
    outputs: outputs.length > 0 ? outputs : undefined,
  };
}

/** `${…}` in all its forms; a form that cannot be foreseen is one unknown piece. */
export function expandParameter(part: ParameterExpansionPart, context: Context, toText: ToText): Value {
  const named = valueOfParameter(part.parameter, context);
  const index = part.index === undefined ? undefined : toText(part.index, context).text;
  const value = atIndex(named, { index, separator: index === "*" ? separatorOf(context) : " " });
  if (part.prefix === "#") return length(value, part);
  if (part.prefix === "!") {
    if (index === "@" || index === "*") return keysOf(value);
    // A name that nobody wrote: what it holds may be any variable there is.
    if (part.operation?.type === "Names" || value.text.includes(UNKNOWN))
      return { ...unknown(value), variables: [`!${part.parameter}`] };
    return /^\w+$/.test(value.text) ? valueOfParameter(value.text, context) : unknown(value);
  }
  if (part.operation === undefined) return value;
  runHiddenSubstitutions(part, context);
  return operate({ operation: part.operation, value, name: part.parameter, context, toText });
}

/** A slash inside a substitution must not end the pattern: `${x/$(cat /a)/b}` is read as bash reads it. */
function runHiddenSubstitutions({ operation, text }: ParameterExpansionPart, context: Context): void {
  if (operation?.type !== "Replace" || !/[$<>]\(|`/.test(operation.pattern.text)) return;
  const start = text.indexOf(operation.pattern.text);
  evaluateWords(text.slice(start, -1), context, context.origin ?? [0, 0]);
}

/** `${!a[@]}`: the names of the items. */
function keysOf(value: Value): Value {
  if (value.items === undefined) return unknown(value);
  const items = value.keys ?? value.items.map((_item, index) => String(index));
  return { text: items.join(" "), items };
}

function unknown(value: Value): Value {
  const { items: _items, keys: _keys, ...rest } = value;
  return { ...rest, text: UNKNOWN };
}

function atIndex(
  value: Value,
  { index, separator }: { readonly index: string | undefined; readonly separator: string },
): Value {
  const all = index === "@" || index === "*";
  if (all && value.unset === true) return { ...value, items: [] };
  if (index === undefined || value.items === undefined) return value;
  if (all) return { ...value, text: value.items.join(separator) };
  const { items: _items, keys: _keys, ...rest } = value;
  return { ...rest, text: itemAt(value, index) ?? UNKNOWN };
}

function length(value: Value, part: ParameterExpansionPart): Value {
  if (value.text.includes(UNKNOWN)) return { text: UNKNOWN };
  const whole = part.index?.text === "@" || part.index?.text === "*";
  return { text: String(whole ? (value.items?.length ?? 1) : value.text.length) };
}

interface Operation {
  readonly operation: ParameterOperation;
  readonly value: Value;
  readonly name: string;
  readonly context: Context;
  readonly toText: ToText;
}

function operate({ operation, value, name, context, toText }: Operation): Value {
  switch (operation.type) {
    case "Default":
      return withDefault({ operation, value, name, context, toText });
    case "Slice":
      return slice({ operation, value, name, context, toText });
    case "Remove": {
      const pattern = toText(operation.operand, context).text;
      if (isPath(name, context) && remove("/home/user", operation.operator, pattern) === "/")
        return { text: "/" };
      return edited(value, (text) => remove(text, operation.operator, pattern));
    }
    case "Replace": {
      const pattern = toText(operation.pattern, context).text;
      const replacement = toText(operation.replacement, context).text;
      return edited(value, (text) => replace({ text, operator: operation.operator, pattern, replacement }));
    }
    case "CaseModification":
      if (operation.operand !== undefined) {
        toText(operation.operand, context);
        return unknown(value);
      }
      return edited(value, (text) => changeCase(text, operation.operator));
    case "Transform": {
      const kind = operation.operand.text;
      if (kind === "P") evaluateAgain(value.text, context, context.origin ?? [0, 0]);
      if (kind === "Q" || kind === "P") return value;
      const operator = { U: "^^", u: "^", L: ",," }[kind];
      return operator === undefined ? unknown(value) : edited(value, (text) => changeCase(text, operator));
    }
    default:
      return unknown(value);
  }
}

/** The default is what the text shows: when the variable is not set in this line, it is what will most likely run. */
function withDefault({ operation, value, name, context, toText }: Operation): Value {
  if (operation.type !== "Default") return value;
  const isSet =
    value.unset !== true && (context.state.valuesOf(name) !== undefined || !value.text.includes(UNKNOWN));
  const empty = value.text === "";
  const operator = operation.operator.replace(":", "");
  if (operator === "+") {
    if (value.text !== UNKNOWN) return empty ? EMPTY : toText(operation.operand, context);
    // Nobody knows whether it is set: both are possible.
    const key = `${name}+`;
    askFor(context.run.choice, key, 2);
    return context.run.choice.picked.get(key) === 1 ? EMPTY : toText(operation.operand, context);
  }
  if (operator === "?") {
    toText(operation.operand, context);
    // Without a value the command does not run.
    return value.unset === true ? { text: UNKNOWN, variables: [name] } : value;
  }
  if (isSet && !empty) return value;
  if (isSet && !operation.operator.startsWith(":")) return value;
  const fallback = toText(operation.operand, context);
  if (operator === "=") context.state.assign(name, [fallback], context);
  return fallback;
}

/** Names of folders begin with a slash, which is why `${PATH:0:1}` is a way to write one. */
const PATHS = new Set(["PATH", "HOME", "PWD", "OLDPWD", "SHELL", "BASH"]);

function isPath(name: string, { state }: Context): boolean {
  return PATHS.has(name) && state.valuesOf(name) === undefined;
}

function slice({ operation, value, name, context, toText }: Operation): Value {
  if (operation.type !== "Slice") return value;
  const offset = wholeNumber(toText(operation.offset, context).text);
  const count =
    operation.length === undefined ? undefined : wholeNumber(toText(operation.length, context).text);
  if (offset === undefined || (operation.length !== undefined && count === undefined)) return unknown(value);
  if (offset === 0 && count === 1 && isPath(name, context)) return { text: "/" };
  if (value.items !== undefined) {
    // `${@:1}` begins with `$1`, `${@:0}` with `$0`.
    const counted = name === "@" || name === "*";
    const items = counted ? [context.state.zero?.text ?? "bash", ...value.items] : value.items;
    const { keys: _keys, ...rest } = value;
    return { ...rest, ...sliceItems(items, offset, count) };
  }
  return edited(value, (text) => {
    const start = offset < 0 ? Math.max(0, text.length + offset) : offset;
    if (count === undefined) return text.slice(start);
    return count < 0 ? text.slice(start, count) : text.slice(start, start + count);
  });
}

function sliceItems(items: readonly string[], offset: number, count: number | undefined) {
  const chosen = items.slice(offset, count === undefined ? undefined : offset + count);
  return { items: chosen, text: chosen.join(" ") };
}

function wholeNumber(text: string): number | undefined {
  return /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}

function edited(value: Value, edit: (text: string) => string | undefined): Value {
  if (value.text.includes(UNKNOWN) || value.text.length > LONGEST_EDIT) return unknown(value);
  const { items, ...rest } = value;
  if (items === undefined) return { ...rest, text: edit(value.text) ?? UNKNOWN };
  const done = items.map((item) => edit(item) ?? UNKNOWN);
  return { ...rest, items: done, text: done.join(" ") };
}

/** What `${x^^}`, `${x%pattern}` and `${x/pattern/text}` make of a known text. */

export function changeCase(text: string, operator: string): string {
  const change = (part: string): string =>
    operator.startsWith("^") ? part.toUpperCase() : part.toLowerCase();
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}

export function remove(text: string, operator: string, pattern: string): string | undefined {
  if (pattern.includes(UNKNOWN)) return undefined;
  // The home folder is written "~" here; its parent is still a parent.
  if (text === "~" && pattern === "/*" && operator === "%") return "~/..";
  const fromStart = operator.startsWith("#");
  if (!hasWildcard(pattern)) {
    const plain = pattern.replace(/\\(.)/gs, "$1");
    if (fromStart) return text.startsWith(plain) ? text.slice(plain.length) : text;
    return plain !== "" && text.endsWith(plain) ? text.slice(0, -plain.length) : text;
  }
  if (text.length > 256) return undefined;
  const sizes = Array.from({ length: text.length + 1 }, (_, size) => size);
  if (operator.length === 2) sizes.reverse();
  for (const size of sizes) {
    const [taken, left] = fromStart
      ? [text.slice(0, size), text.slice(size)]
      : [text.slice(text.length - size), text.slice(0, text.length - size)];
    if (matchesPattern(pattern, taken)) return left;
  }
  return text;
}

export function replace(edit: {
  readonly text: string;
  readonly operator: string;
  readonly pattern: string;
  readonly replacement: string;
}): string | undefined {
  const { text, operator, pattern, replacement } = edit;
  if (pattern.includes(UNKNOWN)) return undefined;
  if (hasWildcard(pattern)) return replaceWild(edit);
  const plain = pattern.replace(/\\(.)/gs, "$1");
  if (plain === "") return text;
  if (operator === "//") return text.split(plain).join(replacement);
  if (operator === "/#") return text.startsWith(plain) ? replacement + text.slice(plain.length) : text;
  if (operator === "/%") return text.endsWith(plain) ? text.slice(0, -plain.length) + replacement : text;
  const at = text.indexOf(plain);
  return at < 0 ? text : text.slice(0, at) + replacement + text.slice(at + plain.length);
}

function replaceWild({
  text,
  operator,
  pattern,
  replacement,
}: Parameters<typeof replace>[0]): string | undefined {
  if (text.length > 64 || operator === "/#" || operator === "/%") return undefined;
  let done = "";
  for (let start = 0; start < text.length; ) {
    let end = text.length;
    while (end > start && !matchesPattern(pattern, text.slice(start, end))) end--;
    if (end === start) {
      done += text[start++];
      continue;
    }
    done += replacement;
    start = end;
    if (operator === "/") return done + text.slice(start);
  }
  return done;
}
