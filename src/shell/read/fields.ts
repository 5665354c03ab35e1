import { LIMITS } from "../limits.js";
import { type SimpleCommand, UNKNOWN } from "../types.js";
import type { Value } from "./state.js";

/** A word in the making. */
export interface Field {
  readonly text: string;
  readonly glob: boolean;
  readonly variables?: readonly string[];
  readonly outputs?: readonly SimpleCommand[];
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
    ...(variables !== undefined && { variables }),
    ...(outputs !== undefined && { outputs }),
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
      if (text !== "") this.add({ ...value, text }, /[*?[]/.test(text));
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
      ...(this.#variables !== undefined && { variables: this.#variables }),
      ...(this.#outputs !== undefined && { outputs: this.#outputs }),
    });
    this.#text = "";
    this.#open = false;
    this.#glob = false;
    this.#variables = undefined;
    this.#outputs = undefined;
  }
}
