import type { Context } from "./context.js";
import { mergeValues } from "./fields.js";
import { valueOfParameter } from "./parameters.js";
import type { Assignment } from "./parse.js";
import { ShellState, type Value } from "./state.js";
import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "./types.js";
import { expandText, expandWord } from "./words.js";

/** Variables that hold more than a command are not followed: doubling them is the oldest trick. */
const LONGEST_VALUE = 16_384;
/** `export A=b`: a word of the command; arrays are remembered here, since a word cannot hold them. */
export function declaredWord(assignment: Assignment, context: Context): ShellWord {
  const span = context.origin === undefined ? ([assignment.pos, assignment.end] as const) : undefined;
  const [made] = assign(assignment, context, { remember: assignment.value.type === "ArrayValue" });
  const text = `${assignment.name}${assignment.append === true ? "+" : ""}=${made?.value.text ?? ""}`;
  return {
    ...made?.value,
    text,
    known: !text.includes(UNKNOWN),
    glob: false,
    ...(span !== undefined && { span }),
  };
}

export function assign(
  assignment: Assignment,
  context: Context,
  { remember = true, exported = false } = {},
): SimpleCommand["assignments"] {
  const { state, certain } = context;
  const { name } = assignment;
  const added = assignment.append === true || assignment.index !== undefined;
  const before = added && state.valuesOf(name) !== undefined ? valueOfParameter(name, context) : undefined;
  const given = combined(assignment, before, context);
  const value = given.text.length > LONGEST_VALUE ? { ...given, text: UNKNOWN } : given;
  if (remember) state.assign(name, [value], { certain });
  if (exported) state.export(name);
  const { items: _items, ...word } = value;
  return [{ name, value: { ...word, known: !value.text.includes(UNKNOWN), glob: false } }];
}

function combined(assignment: Assignment, before: Value | undefined, context: Context): Value {
  const { value: given, append, index } = assignment;
  if (given.type === "ArrayValue") {
    const words = given.elements.flatMap((element) => expandWord(element, context));
    const items = [...(append === true ? (before?.items ?? []) : []), ...words.map((word) => word.text)];
    return { text: items[0] ?? "", items: items.slice(0, 1_024) };
  }
  const value = expandText(given, context);
  if (index !== undefined) {
    const position = expandText(index, context).text;
    const items = [...(before?.items ?? [])];
    if (!/^\d{1,3}$/.test(position)) return { ...value, text: UNKNOWN };
    items[Number(position)] = value.text;
    const whole = Array.from(items, (item) => item ?? "");
    return { ...value, text: whole[0] ?? "", items: whole };
  }
  if (append !== true) return value;
  return mergeValues([before ?? { text: UNKNOWN }, value]);
}

/** Variables whose value some program hands to a shell. */
const COMMAND_VARIABLES = new Set(
  (
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND " +
    "EDITOR VISUAL FCEDIT PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SUDO_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER"
  ).split(" "),
);

export function runCommandVariable(
  name: string,
  task: { readonly value: ShellWord; readonly context: Context; readonly span: Span },
): void {
  const { value, context, span } = task;
  if (!COMMAND_VARIABLES.has(name) || !value.known || value.text.trim() === "") return;
  const text = value.text.replace(/^\|-?\s*/, "").replaceAll("%s", UNKNOWN);
  const state = new ShellState(context.state, "process");
  context.run.runText({ text, context: { ...context, state, out: undefined }, span, foreign: true });
}
