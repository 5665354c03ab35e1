import type { LineOptions } from "../command-line.js";
import { LIMITS } from "../limits.js";
import { type ShellWord, type SimpleCommand, type Span, UNKNOWN } from "../types.js";
import { evaluateArithmetic } from "./arithmetic.js";
import { type Context, evaluateAgain, evaluateSubscript, evaluateWords, spanOf } from "./context.js";
import { expandBraces } from "./expand-braces.js";
import { expandParameter, valueOfParameter } from "./expand-parameters.js";
import {
  type ArithmeticExpression,
  forEachChild,
  parseWord,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "./parse.js";
import { SEPARATORS, type Value } from "./state.js";

/** The words a program would receive for one written word: none, one or many. */
export function expandWord(word: Word, context: Context): readonly ShellWord[] {
  const { parts } = word;
  const span = context.origin === undefined ? ([word.pos, word.end] as const) : undefined;
  if (parts === undefined) return [finish({ text: word.value, glob: false }, context, span)];
  if (!parts.some((part) => part.type === "BraceExpansion")) return fieldsOf(parts, context, span);
  const spellings = expandBraces(word.text);
  if (spellings === undefined || !context.run.budget.spend("words", spellings.length)) {
    context.run.budget.exceed();
    return [{ text: UNKNOWN, known: false, glob: false }];
  }
  const words: ShellWord[] = [];
  for (const spelling of spellings) {
    if (PLAIN.test(spelling)) words.push(finish({ text: spelling, glob: false }, context, span));
    else words.push(...expandSpelling(spelling, context, span));
  }
  return words;
}

const PLAIN = /^[\w./:=,@%+~-]+$/;

/** Words that came out of braces have no place of their own: substitutions in them are met at the whole word. */
function expandSpelling(spelling: string, context: Context, span: Span | undefined): readonly ShellWord[] {
  const word = spelling === "" ? undefined : parseWord(spelling);
  if (word === undefined)
    return spelling === "" ? [] : [finish({ text: spelling, glob: false }, context, span)];
  const inner = { ...context, origin: context.origin ?? span };
  if (word.parts === undefined) return [finish({ text: word.value, glob: false }, context, span)];
  return fieldsOf(word.parts, inner, span);
}

export function expandWords(words: readonly Word[], context: Context): readonly ShellWord[] {
  const expanded: ShellWord[] = [];
  for (const word of words) {
    if (!context.run.budget.spend("words")) break;
    for (const one of expandWord(word, context)) expanded.push(one);
  }
  return expanded;
}

/** One text without splitting: values of assignments, targets of redirections, `case` words. */
export function expandText(word: Word, context: Context): Value {
  if (word.parts === undefined) return { text: word.value };
  return textOf(word.parts, context);
}

/** A single word for a position that takes exactly one, such as the target of a redirection. */
export function expandSingle(word: Word, context: Context): ShellWord {
  const words = expandWord(word, context);
  if (words.length === 1 && words[0] !== undefined) return words[0];
  const span = context.origin === undefined ? ([word.pos, word.end] as const) : undefined;
  return finish({ ...expandText(word, context), glob: false }, context, span);
}

export function textOf(parts: readonly WordPart[], context: Context): Value {
  const pieces = parts.map((part) => pieceOf(part, context, true));
  return mergeValues(pieces.map((piece) => piece.value));
}

interface Piece {
  readonly value: Value;
  readonly quoted: boolean;
  readonly glob: boolean;
  /** `"$@"` and `"${a[@]}"`: each item is a word of its own, quoted or not. */
  readonly separate: boolean;
}

function literal(text: string): Piece {
  return { value: { text }, quoted: true, glob: false, separate: false };
}

function pieceOf(part: WordPart, context: Context, quoted: boolean): Piece {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return literal(part.value);
    case "Glob":
      return { ...literal(part.parts === undefined ? part.value : globText(part, context)), glob: !quoted };
    case "ExtendedGlob":
      walkInside(part, context);
      return { ...literal(part.text), glob: !quoted };
    case "BraceExpansion":
      walkInside(part, context);
      return literal(part.text);
    case "DoubleQuoted":
    case "LocaleString":
      return quotedPiece(part.parts, context);
    case "SimpleExpansion": {
      const name = part.text.slice(1);
      const separate = name === "@" || (name === "*" && !quoted);
      return { value: valueOfParameter(name, context), quoted, glob: false, separate };
    }
    case "ParameterExpansion": {
      const value = expandParameter(part, context, expandText);
      const all = part.index?.text ?? part.parameter;
      const separate = all === "@" || (all === "*" && !quoted);
      return { value, quoted, glob: false, separate };
    }
    case "CommandExpansion": {
      const value =
        part.script === undefined
          ? { text: "" }
          : context.run.substitute(part.script, context, spanOf(part, context));
      return { value, quoted, glob: false, separate: false };
    }
    case "ArithmeticExpansion": {
      walkArithmetic(part.expression, context);
      const result = evaluateArithmetic(part.expression, (name) => valueOfParameter(name, context).text);
      return {
        value: { text: result === undefined ? UNKNOWN : String(result) },
        quoted,
        glob: false,
        separate: false,
      };
    }
    case "ProcessSubstitution":
      return { ...literal(""), value: processPath(part, context) };
  }
}

/** `[$(…)]`: what stands between the brackets is expanded before it is a pattern. */
function globText(part: Extract<WordPart, { type: "Glob" }>, context: Context): string {
  let text = part.value;
  for (const inner of part.parts ?? []) {
    if (inner.type === "Literal") {
      evaluateWords(inner.value, context, spanOf(part, context));
      continue;
    }
    const { value } = pieceOf(inner, context, true);
    text = text.replace(inner.text, () => value.text);
  }
  return text;
}

/** A name under which the other end can be read; what stands there is kept like the content of a file. */
function processPath(part: Extract<WordPart, { type: "ProcessSubstitution" }>, context: Context): Value {
  const { run, state } = context;
  const path = `/dev/fd/${run.nextDescriptor--}`;
  if (part.script === undefined) return { text: path };
  if (part.operator === "<") {
    const content = run.processOutput(part.script, context, spanOf(part, context));
    state.files.set(path, { content, foreign: false, executable: false });
    if (content.kind === "text" && content.from.length > 0) return { text: path, outputs: content.from };
  } else run.sinks.push({ script: part.script, span: spanOf(part, context) });
  return { text: path };
}

function quotedPiece(parts: readonly WordPart[], context: Context): Piece {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && only.type !== "Literal") {
    return { ...pieceOf(only, context, true), quoted: true };
  }
  return { value: textOf(parts, context), quoted: true, glob: false, separate: false };
}

/** Substitutions in places whose own text does not matter still run. */
export function walkInside(node: SyntaxNode, context: Context): void {
  forEachChild(node, (child) => {
    if (child.type === "CommandExpansion" || child.type === "ProcessSubstitution")
      pieceOf(child, context, true);
    else if (child.type === "ParameterExpansion" && child.operation?.type === "Transform")
      pieceOf(child, context, true);
    else if (child.type === "ArithmeticCommandExpansion") {
      if (child.script !== undefined) context.run.substitute(child.script, context, spanOf(child, context));
    } else {
      if (child.type === "ArithmeticWord") evaluateNumber(child, context);
      walkInside(child, context);
    }
  });
}

export function walkArithmetic(expression: ArithmeticExpression | undefined, context: Context): void {
  if (expression === undefined) return;
  if (expression.type === "ArithmeticCommandExpansion") {
    if (expression.script !== undefined)
      context.run.substitute(expression.script, context, spanOf(expression, context));
    return;
  }
  if (expression.type === "ArithmeticWord") evaluateNumber(expression, context);
  walkInside(expression, context);
}

/** What a name in a calculation holds is calculated in its turn, subscripts included. */
function evaluateNumber(
  word: Extract<ArithmeticExpression, { type: "ArithmeticWord" }>,
  context: Context,
): void {
  let name = /^\$?\{?([A-Za-z_]\w*)/.exec(word.value)?.[1];
  for (let round = 0; name !== undefined && round < 4; round++) {
    if (context.state.valuesOf(name) === undefined) return;
    const { text, items } = valueOfParameter(name, context);
    evaluateAgain([text, ...(items ?? [])].join("\n"), context, spanOf(word, context));
    name = /^[A-Za-z_]\w*$/.test(text) ? text : undefined;
  }
}

/** `[[ -v a[$(…)] ]]`, `[[ $x -eq 1 ]]`: what is compared as a number, or asked for by name, is read again. */
export function walkTest(node: SyntaxNode, context: Context): void {
  walkInside(node, context);
  const visit = (child: SyntaxNode): void => {
    if (child.type === "TestUnary" && child.operator === "-v") readAgain(child.operand, context);
    else if (child.type === "TestBinary" && /^-(?:eq|ne|lt|le|gt|ge)$/.test(child.operator)) {
      readAgain(child.left, context);
      readAgain(child.right, context);
    } else if (child.type.startsWith("Test")) forEachChild(child, visit);
  };
  forEachChild(node, visit);
}

function readAgain(word: Word, context: Context): void {
  if (word.parts === undefined) return;
  evaluateSubscript(expandText(word, context).text, context, spanOf(word, context));
}

function fieldsOf(
  parts: readonly WordPart[],
  context: Context,
  span: Span | undefined,
): readonly ShellWord[] {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && (only.type === "SingleQuoted" || only.type === "Literal")) {
    return [finish({ text: only.value, glob: false }, context, span)];
  }
  const first = parts.length === 1 && only !== undefined ? pieceOf(only, context, false) : undefined;
  const whole = first === undefined ? undefined : wholeField(first, context);
  if (whole !== undefined) return [finish(whole, context, span)];
  const builder = new FieldBuilder();
  for (const part of parts) {
    const piece = first ?? pieceOf(part, context, false);
    if (piece.separate && piece.value.items !== undefined)
      builder.addItems(piece.value, piece.quoted ? "" : separators(context));
    else if (piece.quoted) builder.add(piece.value, piece.glob);
    else builder.split(piece.value, separators(context));
  }
  const fields = builder.finish();
  if (fields.length > 1 && !context.run.budget.spend("words", fields.length)) return [];
  return fields.map((field) => finish(field, context, span));
}

/** An expansion that stands alone and does not fall apart: the common case, met thousands of times in long lines. */
function wholeField({ value, quoted, separate }: Piece, context: Context): Field | undefined {
  const { text, variables, outputs } = value;
  if (quoted || separate || text === "" || text.length > LIMITS.text) return undefined;
  if (patternOf(separators(context)).test(text)) return undefined;
  return { text, glob: PATTERN.test(text), variables, outputs };
}

/** Where several separators are possible, each of them is tried. */
function separators(context: Context): string {
  const { text } = valueOfParameter("IFS", context);
  return text.includes(UNKNOWN) ? SEPARATORS : text;
}

function finish(field: Field, context: Context, span: Span | undefined): ShellWord {
  const known = !field.text.includes(UNKNOWN);
  const text = foldFolders(known ? field.text : field.text.replace(/\uFFFC{2,}/g, UNKNOWN), context.run);
  const { glob, variables, outputs } = field;
  if (glob) context.run.budget.spend("patterns");
  if (variables === undefined && outputs === undefined) {
    return span === undefined ? { text, known, glob } : { text, known, glob, span };
  }
  return {
    text,
    known,
    glob,
    variables,
    outputs,
    span,
  };
}

/** Rules know the person's folders by their short names, however they were written. */
export function foldFolders(given: string, { home, hermesHome }: LineOptions): string {
  const text = given.startsWith("~") ? userFolder(given, home) : given;
  if (!text.includes("/")) return text;
  const own = hermesHome === undefined ? text : foldEverywhere(text, hermesHome, "~/.hermes");
  return home === undefined ? own : foldFolder(own, home, "~");
}

/** `~root` and `~name` of the person themselves. */
function userFolder(text: string, home: string | undefined): string {
  const match = /^~([A-Za-z_][\w.-]*)(?=\/|$)/.exec(text);
  if (match === null) return text;
  const rest = text.slice(match[0].length);
  if (match[1] === "root") return `/root${rest}`;
  return home?.split("/").at(-1) === match[1] ? `~${rest}` : text;
}

/** Also inside of a word that holds more than a path: `.once /srv/hermes/config.yaml`, `-o/srv/hermes/x`. */
function foldEverywhere(text: string, folder: string, short: string): string {
  let folded = text;
  for (let at = folded.indexOf(folder); at >= 0; at = folded.indexOf(folder, at + short.length)) {
    const before = folded.slice(Math.max(0, at - 2), at);
    const after = folded[at + folder.length];
    const begins = at === 0 || /[^\w./~-]$/.test(before) || (at === 2 && /^-\w$/.test(before));
    if (begins && (after === undefined || /[^\w.-]/.test(after)))
      folded = folded.slice(0, at) + short + folded.slice(at + folder.length);
  }
  return folded;
}

function foldFolder(text: string, folder: string, short: string): string {
  const startsHere = text.startsWith(folder);
  const at = startsHere ? 0 : text.indexOf(`=${folder}`) + 1;
  if (at === 0 && !startsHere) return text;
  const after = text[at + folder.length];
  return after === undefined || after === "/"
    ? text.slice(0, at) + short + text.slice(at + folder.length)
    : text;
}

/** A word in the making. */
export interface Field {
  readonly text: string;
  readonly glob: boolean;
  readonly variables?: readonly string[] | undefined;
  readonly outputs?: readonly SimpleCommand[] | undefined;
}

export function mergeValues(values: readonly Value[]): Value {
  let text = "";
  let variables: readonly string[] | undefined;
  let outputs: readonly SimpleCommand[] | undefined;
  for (const value of values) {
    text += value.text;
    variables = union(variables, value.variables);
    outputs = union(outputs, value.outputs);
  }
  return {
    text: text.length > LIMITS.text ? UNKNOWN : text.replace(/\uFFFC{2,}/g, UNKNOWN),
    variables,
    outputs,
  };
}

/** More names than this add nothing to what a rule could say. */
const MOST_ORIGINS = 16;

function union<Item>(
  one: readonly Item[] | undefined,
  other: readonly Item[] | undefined,
): readonly Item[] | undefined {
  if (other === undefined || one === undefined) return one ?? other;
  return one.length >= MOST_ORIGINS ? one : [...new Set([...one, ...other])].slice(0, MOST_ORIGINS);
}

const PATTERN = /[*?[]/;
const BLANKS = " \t\n";
const BLANK = /[ \t\n]/;

function patternOf(separators: string): RegExp {
  return separators === BLANKS ? BLANK : new RegExp(`[${separators.replace(/[\]\\^-]/g, "\\$&")}]`);
}

/** Puts the pieces of a written word together into the words a program receives. */
export class FieldBuilder {
  readonly #done: Field[] = [];
  #text = "";
  #open = false;
  #glob = false;
  #variables: readonly string[] | undefined;
  #outputs: readonly SimpleCommand[] | undefined;

  add(value: Value, glob: boolean): void {
    this.#open = true;
    this.#text += value.text;
    if (this.#text.length > LIMITS.text) this.#text = UNKNOWN;
    this.#glob ||= glob;
    this.#note(value);
  }

  /** Each item is a word; unquoted ones fall apart further. */
  addItems(value: Value, separators: string): void {
    for (const [index, text] of (value.items ?? []).entries()) {
      if (index > 0) this.#close();
      if (separators === "") this.add({ ...value, text }, false);
      else this.split({ ...value, text }, separators);
    }
  }

  /** An unquoted expansion: its text falls apart at the separators, and `*` in it is a pattern. */
  split(value: Value, separators: string): void {
    const pieces = value.text.split(patternOf(separators));
    for (const [index, text] of pieces.entries()) {
      if (index > 0) this.#close();
      if (text !== "") this.add({ ...value, text }, PATTERN.test(text));
    }
  }

  finish(): readonly Field[] {
    this.#close();
    return this.#done;
  }

  #note(value: Value): void {
    this.#variables = union(this.#variables, value.variables);
    this.#outputs = union(this.#outputs, value.outputs);
  }

  #close(): void {
    if (!this.#open) return;
    this.#done.push({
      text: this.#text,
      glob: this.#glob,
      variables: this.#variables,
      outputs: this.#outputs,
    });
    this.#text = "";
    this.#open = false;
    this.#glob = false;
    this.#variables = undefined;
    this.#outputs = undefined;
  }
}
