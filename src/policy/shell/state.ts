import type { CompoundCommand, CompoundList, Redirected } from "./parse.js";
import type { Stream } from "./stream.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "./types.js";

/** What a variable may hold, as far as the text tells. */
export interface Value {
  readonly text: string;
  /** Present for arrays. */
  readonly items?: readonly string[];
  /** Names of the items, when they are not simply counted from zero. */
  readonly keys?: readonly string[];
  /** `declare -n`: it is only another name for this variable. */
  readonly meant?: string;
  readonly variables?: readonly string[];
  readonly outputs?: readonly SimpleCommand[];
}

/** What is known about a file that the same command line made. */
export interface MadeFile {
  readonly content?: Stream;
  /** Fetched or decoded: nobody has seen what is in it. */
  readonly foreign: boolean;
  readonly executable: boolean;
  /** A copy of this program, or a link to it. */
  readonly program?: string;
}

export type FunctionBody = CompoundCommand | Redirected | CompoundList;

/** Where a layer looks for names it does not know itself. */
interface Below<Item> {
  get(name: string): Item | undefined;
}

/** A map on top of another one, so that a subshell costs nothing to open and leaves nothing behind. */
class Layered<Item> implements Below<Item> {
  #own: Map<string, Item | undefined> | undefined;
  readonly #below: Below<Item> | undefined;

  constructor(below: Below<Item> | undefined) {
    this.#below = below;
  }

  get(name: string): Item | undefined {
    return this.#own?.has(name) === true ? this.#own.get(name) : this.#below?.get(name);
  }

  set(name: string, item: Item | undefined): void {
    this.#own ??= new Map();
    this.#own.set(name, item);
  }
}

/** Of values that may or may not be assigned; more are stood for by one that nobody knows. */
const MOST_VALUES = 12;
/** No system enters a folder whose path is longer. */
const LONGEST_PATH = 4_096;

/** What a shell splits at as long as nobody has set IFS, and again when it is unset. */
export const SEPARATORS = " \t\n";

/** The memory of one shell. A subshell starts from a copy, a new shell with what was exported. */
export class ShellState {
  readonly #variables: Layered<readonly Value[]>;
  readonly #exported: Layered<boolean>;
  #saved: Map<string, SavedVariable> | undefined;
  readonly functions: Layered<FunctionBody>;
  readonly aliases: Layered<string>;
  readonly files: Layered<MadeFile>;
  /** Words of `$1`, `$2` …; undefined when nobody knows them. */
  positional: readonly ShellWord[] | undefined;
  /** The word of `$0`, when a shell was started with one. */
  zero: ShellWord | undefined;
  #folder: string | undefined;
  /** What `exec < file` made the standard input of everything that follows. */
  input: Stream | undefined;
  /** Grows with every change of a variable, so that loops can tell whether another round says something new. */
  changes = 0;

  constructor(outer?: ShellState, kind: "subshell" | "process" = "subshell") {
    const copied = kind === "subshell" ? outer : undefined;
    const handed = copied ?? (outer === undefined ? undefined : outer.#environment());
    this.#variables = new Layered(handed instanceof ShellState ? handed.#variables : handed?.variables);
    this.#exported = new Layered(outer === undefined ? undefined : outer.#exported);
    this.functions = new Layered(handed?.functions);
    this.aliases = new Layered(copied?.aliases);
    // What a subshell or another process writes is there for all.
    this.files = outer?.files ?? new Layered(undefined);
    this.positional = copied === undefined ? [] : copied.positional;
    this.zero = copied?.zero;
    this.folder = outer?.folder;
    this.input = outer?.input;
  }

  /** Where `cd` went; undefined as long as it is the folder the command line starts in. */
  get folder(): string | undefined {
    return this.#folder;
  }

  set folder(path: string | undefined) {
    const short = path !== undefined && path.length > LONGEST_PATH ? shortened(path) : path;
    this.#folder = short !== undefined && short.length > LONGEST_PATH ? undefined : short;
  }

  /** What a program started from here finds in its environment. */
  #environment(): Environment {
    return {
      variables: { get: (name) => this.#inherited(name) },
      functions: {
        get: (name) => (this.#exported.get(`${name}()`) === true ? this.functions.get(name) : undefined),
      },
    };
  }

  #inherited(name: string): readonly Value[] | undefined {
    // Every shell begins with separators of its own, whatever was exported.
    if (name === "IFS") return undefined;
    const values = this.#variables.get(name);
    if (values === undefined || this.#exported.get(name) === true) return values;
    // Names in capitals may have come from outside, and then the new value goes on as well.
    return /^[A-Z][A-Z0-9_]*$/.test(name) ? [...values, { text: UNKNOWN, variables: [name] }] : undefined;
  }

  /** `export name`, or `export -f name` for functions. */
  export(name: string, { isFunction = false } = {}): void {
    this.#exported.set(isFunction ? `${name}()` : name, true);
  }

  /** Everything the variable may hold here; undefined when this line never set it. */
  valuesOf(name: string): readonly Value[] | undefined {
    return this.#variables.get(name);
  }

  assign(name: string, values: readonly Value[], { certain }: { readonly certain: boolean }): void {
    const before = certain ? [] : (this.#variables.get(name) ?? asItCame(name));
    const fresh = values.filter((value) => !before.some((known) => sameValue(known, value)));
    if (fresh.length === 0 && before.length > 0) return;
    const all = [...before, ...fresh];
    const crowded = !certain && all.length > Math.max(MOST_VALUES, values.length);
    if (crowded && before.some((value) => value.text === UNKNOWN)) return;
    this.#variables.set(name, crowded ? [...before.slice(0, MOST_VALUES), { text: UNKNOWN }] : all);
    this.changes++;
  }

  unset(name: string, { certain }: { readonly certain: boolean }): void {
    this.assign(name, [{ text: name === "IFS" ? SEPARATORS : "" }], { certain });
    if (certain) this.functions.set(name, undefined);
  }

  /** `local name`: what it held before comes back when the function ends. */
  makeLocal(name: string): void {
    if (this.#saved === undefined || this.#saved.has(name)) return;
    this.#saved.set(name, { values: this.#variables.get(name), exported: this.#exported.get(name) });
  }

  /** Runs the body of a function, or a command with assignments in front; what is made local ends with it. */
  withLocals(body: () => void): void {
    const outer = this.#saved;
    const saved = new Map<string, SavedVariable>();
    this.#saved = saved;
    body();
    for (const [name, { values, exported }] of saved) {
      this.#variables.set(name, values);
      this.#exported.set(name, exported);
    }
    this.#saved = outer;
  }
}

/** What a variable holds before the line sets it, as far as that is certain. */
function asItCame(name: string): readonly Value[] {
  return name === "IFS" ? [{ text: SEPARATORS }] : [];
}

interface Environment {
  readonly variables: Below<readonly Value[]>;
  readonly functions: Below<FunctionBody>;
}

interface SavedVariable {
  readonly values: readonly Value[] | undefined;
  readonly exported: boolean | undefined;
}

function sameValue(one: Value, other: Value): boolean {
  return (
    one.text === other.text &&
    one.meant === other.meant &&
    one.items?.join("\0") === other.items?.join("\0") &&
    one.keys?.join("\0") === other.keys?.join("\0")
  );
}

/** The path without `.`, doubled slashes and ways there and back. */
function shortened(path: string): string {
  const kept: string[] = [];
  for (const [index, segment] of path.split("/").entries()) {
    if (index > 0 && (segment === "" || segment === ".")) continue;
    const last = kept.at(-1);
    if (segment !== ".." || last === undefined || last === "..") kept.push(segment);
    else if (kept.length > 1) kept.pop();
    // Above the root is the root; above `~` is a place nobody knows by name.
    else if (last !== "") kept.push(segment);
  }
  return kept.length === 1 && kept[0] === "" ? "/" : kept.join("/");
}
