import type { Budget } from "./limits.js";
import type { CompoundCommand, CompoundList, Redirected } from "./parse.js";
import type { Stream } from "./stream.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "./types.js";

/** What a variable may hold, as far as the text tells. */
export interface Value {
  readonly text: string;
  /** Present for arrays. */
  readonly items?: readonly string[];
  readonly variables?: readonly string[];
  readonly outputs?: readonly SimpleCommand[];
}

/** What is known about a file that the same command line made. */
export interface MadeFile {
  readonly content?: Stream;
  /** Fetched or decoded: nobody has seen what is in it. */
  readonly foreign: boolean;
  readonly executable: boolean;
}

export type FunctionBody = CompoundCommand | Redirected | CompoundList;

/** A map on top of another one, so that a subshell costs nothing to open and leaves nothing behind. */
class Layered<Item> {
  readonly #own = new Map<string, Item | undefined>();
  readonly #below: Layered<Item> | undefined;

  constructor(below?: Layered<Item>) {
    this.#below = below;
  }

  get(name: string): Item | undefined {
    return this.#own.has(name) ? this.#own.get(name) : this.#below?.get(name);
  }

  set(name: string, item: Item | undefined): void {
    this.#own.set(name, item);
  }
}

/** Of values that may or may not be assigned; more are stood for by one that nobody knows. */
const MOST_VALUES = 12;

/** How a variable is set: for sure or perhaps, in which judgement. */
interface Assigning {
  readonly certain: boolean;
  readonly run: { readonly budget: Budget };
}

/** The memory of one shell: a subshell starts from a copy. */
export class ShellState {
  readonly #variables: Layered<readonly Value[]>;
  readonly functions: Layered<FunctionBody>;
  readonly aliases: Layered<string>;
  readonly files: Layered<MadeFile>;
  /** Words of `$1`, `$2` …; undefined when nobody knows them. */
  positional: readonly ShellWord[] | undefined;
  /** The word of `$0`, when a shell was started with one. */
  zero: ShellWord | undefined;
  /** Where `cd` went; undefined as long as it is the folder the command line starts in. */
  folder: string | undefined;
  /** Grows with every change of a variable, so that loops can tell whether another round says something new. */
  changes = 0;

  constructor(outer?: ShellState) {
    this.#variables = new Layered(outer === undefined ? undefined : outer.#variables);
    this.functions = new Layered(outer?.functions);
    this.aliases = new Layered(outer?.aliases);
    this.files = new Layered(outer?.files);
    this.positional = outer === undefined ? [] : outer.positional;
    this.zero = outer?.zero;
    this.folder = outer?.folder;
  }

  /** Everything the variable may hold here; undefined when this line never set it. */
  valuesOf(name: string): readonly Value[] | undefined {
    return this.#variables.get(name);
  }

  assign(name: string, values: readonly Value[], { certain, run }: Assigning): void {
    const before = certain ? [] : (this.#variables.get(name) ?? []);
    const fresh = values.filter((value) => !before.some((known) => sameValue(known, value)));
    if (fresh.length === 0 && before.length > 0) return;
    const all = [...before, ...fresh];
    const crowded = !certain && all.length > Math.max(MOST_VALUES, values.length);
    if (crowded && before.some((value) => value.text === UNKNOWN)) return;
    this.#variables.set(name, crowded ? [...before.slice(0, MOST_VALUES), { text: UNKNOWN }] : all);
    this.changes++;
    if (all.length > 1) run.budget.branching = true;
  }

  unset(name: string): void {
    this.#variables.set(name, undefined);
    this.functions.set(name, undefined);
  }
}

function sameValue(one: Value, other: Value): boolean {
  return one.text === other.text && one.items?.join("\0") === other.items?.join("\0");
}
