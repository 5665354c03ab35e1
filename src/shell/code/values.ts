import { Buffer } from "node:buffer";
import { quoteForShell } from "../../base/quote.js";
import { UNKNOWN } from "../types.js";
import type { Language } from "./languages.js";

/** What an expression of a program is known to be. */
export type CodeValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly CodeValue[] }
  | { readonly kind: "record"; readonly fields: ReadonlyMap<string, CodeValue> }
  /** A dotted name: a module, a function, a member of something. */
  | { readonly kind: "name"; readonly name: string; readonly receiver?: CodeValue | undefined }
  | { readonly kind: "unknown"; readonly origin?: Origin };

/** Where text that nobody knows comes from. */
export type Origin = "file" | "network" | "decoded" | "command" | "input";

export const NOTHING: CodeValue = { kind: "unknown" };

export const textValue = (text: string): CodeValue => ({ kind: "text", text });

/** The text of a value; pieces that only a run would tell are UNKNOWN. */
export function textOf(value: CodeValue | undefined): string {
  if (value?.kind === "text" || value?.kind === "number") return value.text;
  return UNKNOWN;
}

export function isWhollyUnknown(text: string): boolean {
  return text.replaceAll(UNKNOWN, "").trim() === "";
}

export function concatenate(left: CodeValue, right: CodeValue): CodeValue {
  if (left.kind === "list") {
    const added = right.kind === "list" ? right.items : [NOTHING];
    return left.items.length + added.length > MOST_ITEMS ? NOTHING : listValue([...left.items, ...added]);
  }
  if (left.kind !== "text" && right.kind !== "text") return left.kind === "unknown" ? left : NOTHING;
  return joinTexts([left, right], "");
}

/** Doubling a text or a list is quickly written; nobody has to know what comes out. */
const LONGEST_TEXT = 16_384;
const MOST_ITEMS = 1_024;
/** Texts that are worked through letter by letter are shorter, for a program may do that thousands of times. */
const LONGEST_CHANGED = 4_096;

export function joinTexts(values: readonly CodeValue[], separator: string): CodeValue {
  let length = 0;
  for (const value of values) {
    length += textOf(value).length + separator.length;
    if (length > LONGEST_TEXT + separator.length) return NOTHING;
  }
  return textValue(values.map(textOf).join(separator));
}

/** What a change makes of a text. */
export function changed(text: string, change: (text: string) => string): CodeValue {
  return text.length > LONGEST_CHANGED ? NOTHING : textValue(change(text));
}

export function listOf(texts: readonly string[]): CodeValue {
  return texts.length > MOST_ITEMS ? NOTHING : listValue(texts.map(textValue));
}

function listValue(items: readonly CodeValue[]): CodeValue {
  return { kind: "list", items };
}

export function reversed({ items }: { readonly items: readonly CodeValue[] }): CodeValue {
  return items.length > MOST_ITEMS ? NOTHING : listValue(items.toReversed());
}

export function replaced(text: string, from: string, to: string): CodeValue {
  if (!text.includes(from)) return textValue(text);
  return text.length * to.length > 8 * LONGEST_CHANGED
    ? NOTHING
    : changed(text, () => text.replaceAll(from, to));
}

/** Folders and names joined with one slash. */
export function joinPaths(parts: readonly CodeValue[]): CodeValue {
  let path = "";
  for (const part of parts) {
    const text = textOf(part);
    if (path.length + text.length > LONGEST_CHANGED) return NOTHING;
    path = text.startsWith("/") || path === "" ? text : `${path.replace(/\/$/, "")}/${text}`;
  }
  return textValue(path);
}

/** `"rm %s" % name`, `"rm {}".format(name)`: the holes become unknown. */
export function withHoles(text: string): CodeValue {
  const pieces = text.split(HOLE, MOST_HOLES);
  return pieces.length === MOST_HOLES ? NOTHING : changed(text, () => pieces.join(UNKNOWN));
}

/** `"{}/{}".format(a, b)`: the holes that have no name take the values in their order. */
export function filled(text: string, values: readonly CodeValue[]): CodeValue {
  const pieces = text.split(PLAIN_HOLE, MOST_HOLES);
  if (pieces.length === MOST_HOLES) return NOTHING;
  let next = 0;
  const whole = pieces.map((piece, index) =>
    index % 2 === 0 ? piece : textOf(values[piece === "" ? next++ : Number(piece)]),
  );
  const joined = joinTexts(whole.map(textValue), "");
  return joined.kind === "text" ? withHoles(joined.text) : joined;
}

const PLAIN_HOLE = /\{(\d*)\}/;
const HOLE = /%[-+#0 ]*\d*(?:\.\d+)?[a-zA-Z]|\{[\w.!:]*\}/;
const MOST_HOLES = 64;

export function decodeText(text: string, encoding: "base64" | "hex"): CodeValue {
  if (text.includes(UNKNOWN)) return { kind: "unknown", origin: "decoded" };
  return textValue(Buffer.from(text.replace(/\s+/g, ""), encoding).toString("utf8"));
}

/** One word of a shell command; unknown pieces become a variable nobody set. */
export function quoteWithUnknowns(text: string): string {
  if (/^[\w./:=@%+,-]+$/.test(text)) return text;
  return text
    .split(UNKNOWN)
    .map((piece) => (piece === "" ? "" : quoteForShell(piece)))
    .join(UNKNOWN_VARIABLE);
}

/** Stands for an unknown piece inside a shell text that is handed on to be judged. */
const UNKNOWN_VARIABLE = '"$unknown_value"';

/** A text meant for a shell as it is; unknown pieces may become several words there. */
export function shellText(text: string): string {
  return text.replaceAll(UNKNOWN, "$unknown_value");
}

/** One call met in a program, names followed to the module they come from. */
export interface CodeCall {
  /** `os.system`, `fs.rmSync`; begins with a dot for a method of a value: `.unlink`. */
  readonly name: string;
  readonly args: readonly CodeValue[];
  readonly keywords: ReadonlyMap<string, CodeValue>;
  readonly receiver?: CodeValue | undefined;
}

/** What the reader tells about a program. */
export interface CodeFacts {
  readonly calls: CodeCall[];
  /** Text between backticks, handed to a shell by the language itself. */
  readonly shellTexts: string[];
  /** Every name and every known string, for questions that need no more. */
  readonly names: Set<string>;
  /** Modules and values read as a whole: `os.environ`, `process.env.HOME`. */
  readonly members: Set<string>;
  /** Strings, as far as they are known. */
  readonly texts: string[];
}

const answers = new WeakMap<CodeFacts, Map<(call: CodeCall) => boolean, boolean>>();

/** Whether the program makes such a call anywhere; asked for call after call, and answered once. */
export function someCall(facts: CodeFacts, test: (call: CodeCall) => boolean): boolean {
  const known = answers.get(facts) ?? new Map<(call: CodeCall) => boolean, boolean>();
  answers.set(facts, known);
  const answer = known.get(test) ?? facts.calls.some(test);
  known.set(test, answer);
  return answer;
}

/** Gives the value of a call from its name and arguments. */
export type CallEvaluator = (call: CodeCall) => CodeValue;

export interface ReaderTools {
  readonly evaluate: CallEvaluator;
  /** Functions that take arguments without parentheses in languages that allow it. */
  readonly bare: (name: string) => boolean;
  /** Values of names such as `process.env.HOME`. */
  readonly member: (name: string) => CodeValue | undefined;
}

export interface CodeSetting {
  readonly language: Language;
  readonly tools: ReaderTools;
}
