import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { type Branch, isInside, type ShellPosition } from "./branches.js";
import type { CompoundCommand, CompoundList, Redirected } from "./parse.js";
import type { Stream } from "./streams.js";

/** What a variable may hold, as far as the text tells. */
export interface Value {
  readonly text: string;
  /** Present for arrays. */
  readonly items?: readonly string[];
  /** Names of the items, when they are not simply counted from zero. */
  readonly keys?: readonly string[];
  /** `declare -n`: it is only another name for this variable. */
  readonly meant?: string;
  /** The variable is not set at all, which `${x-…}` tells apart from an empty text. */
  readonly unset?: true;
  readonly variables?: readonly string[] | undefined;
  readonly outputs?: readonly SimpleCommand[] | undefined;
}

/** What is known about a file that the same command line made. */
export interface MadeFile {
  readonly content?: Stream;
  /** Fetched or decoded: nobody has seen what is in it. */
  readonly foreign: boolean;
  readonly executable: boolean;
  /** A copy of this program, or a link to it. */
  readonly program?: string;
  /** Compiled by this line from sources of the project. */
  readonly compiled?: boolean;
  /** What copied or packed keys into it. */
  readonly filledBy?: SimpleCommand;
}

/** Folders that the line fetched from somebody, and whether it has gone into one. */
export interface ForeignFolders {
  /** First parts of paths; `*` where an archive was unpacked, which may hold anything. */
  readonly names: Set<string>;
  entered: boolean;
  /** Remotes of git that this line led to somebody's address. */
  readonly remotes: Set<string>;
}

export interface Disk {
  /** Texts of files that are judged like the line that runs them. */
  textOf(path: string): string | undefined;
  /** Where the last `cd` of the line went to. */
  folder: string | undefined;
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

  ownNames(): Iterable<string> {
    return this.#own?.keys() ?? [];
  }
}

/** Of values that may or may not be assigned; more are stood for by one that nobody knows. */
const MOST_VALUES = 12;

/** What a shell splits at as long as nobody has set IFS, and again when it is unset. */
export const SEPARATORS = " \t\n";

/** Whether a change is certain to happen where it stands, and in which part of the line that is. */
export interface Place {
  readonly certain: boolean;
  readonly branch: Branch | undefined;
}

/** Of branches in which a name is set; to forget one is only more careful. */
const MOST_PLACES = 128;
const NOWHERE: ReadonlySet<Branch> = new Set();
const UNSET: Value = { text: "", unset: true };

/** The memory of one shell. A subshell starts from a copy, a new shell with what was exported. */
export class ShellState {
  readonly #variables: Layered<readonly Value[]>;
  /**
   * For names that are set only perhaps: the branches in which they are set for certain. Functions are noted as
   * `name()`. A name that is not here is set everywhere, if the line sets it at all.
   */
  readonly #covered: Layered<ReadonlySet<Branch>>;
  readonly #exported: Layered<boolean>;
  #saved: Map<string, SavedVariable> | undefined;
  readonly #functions: Layered<readonly FunctionBody[]>;
  readonly aliases: Layered<readonly string[]>;
  readonly files: Map<string, MadeFile>;
  readonly foreign: ForeignFolders;
  /** Files that lie there already; absent on other machines. */
  disk: Disk | undefined;
  /** The word of `$0`, when a shell was started with one. */
  zero: ShellWord | undefined;
  position: ShellPosition;
  /** What `exec < file` made the standard input of everything that follows. */
  input: Stream | undefined;
  /** Grows with every change of a variable, so that loops can tell whether another round says something new. */
  changes = 0;

  constructor(outer?: ShellState, kind: "subshell" | "process" = "subshell") {
    const copied = kind === "subshell" ? outer : undefined;
    const handed = copied ?? (outer === undefined ? undefined : outer.#environment());
    this.#variables = new Layered(handed instanceof ShellState ? handed.#variables : handed?.variables);
    this.#exported = new Layered(outer === undefined ? undefined : outer.#exported);
    this.#covered = new Layered(handed instanceof ShellState ? handed.#covered : handed?.covered);
    this.#functions = new Layered(handed instanceof ShellState ? handed.#functions : handed?.functions);
    this.aliases = new Layered(copied?.aliases);
    // What a subshell or another process writes is there for all.
    this.files = outer?.files ?? new Map();
    this.foreign = outer?.foreign ?? { names: new Set(), entered: false, remotes: new Set() };
    this.disk = outer?.disk;
    const { folders = [undefined], positionals = [[]] } = outer?.position ?? {};
    this.position = { folders, positionals: copied === undefined ? [[]] : positionals };
    this.zero = copied?.zero;
    this.input = outer?.input;
  }

  /** What a program started from here finds in its environment. */
  #environment(): Environment {
    return {
      variables: { get: (name) => this.#inherited(name) },
      functions: {
        get: (name) => (this.#exported.get(`${name}()`) === true ? this.#functions.get(name) : undefined),
      },
      // A name that is not handed on is not set over there, wherever it is set here.
      covered: {
        get: (name) =>
          this.#exported.get(name) === true || this.#inherited(name) !== undefined
            ? this.#covered.get(name)
            : undefined,
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

  /** The same for one part of the line: where it may not have been set before, that is one more possibility. */
  valuesIn(name: string, branch: Branch | undefined): readonly Value[] | undefined {
    const values = this.#variables.get(name);
    return values === undefined || this.isCovered(name, branch) ? values : [...values, UNSET];
  }

  assign(name: string, values: readonly Value[], { certain, branch }: Place): void {
    const known = this.#variables.get(name);
    this.#set(name, { certain, branch, before: known !== undefined });
    const before = certain ? [] : (known ?? []);
    const fresh = values.filter((value) => !before.some((other) => sameValue(other, value)));
    if (fresh.length === 0 && before.length > 0) return;
    const all = [...before, ...fresh];
    const crowded = !certain && all.length > Math.max(MOST_VALUES, values.length);
    if (crowded && before.some((value) => value.text === UNKNOWN)) return;
    this.#variables.set(name, crowded ? [...before.slice(0, MOST_VALUES), { text: UNKNOWN }] : all);
    this.changes++;
  }

  #set(key: string, { certain, branch, before }: Place & { readonly before: boolean }): void {
    if (certain && branch === undefined) {
      if (this.#covered.get(key) !== undefined) this.#covered.set(key, undefined);
      return;
    }
    if (!before && this.#covered.get(key) === undefined) this.#covered.set(key, NOWHERE);
    this.cover(key, branch);
  }

  /** From here on it is set in this branch; where nothing is uncertain, everywhere. */
  cover(key: string, branch: Branch | undefined): void {
    branch?.names.add(key);
    const places = this.#covered.get(key);
    if (places === undefined || this.isCovered(key, branch)) return;
    if (branch === undefined) this.#covered.set(key, undefined);
    else this.#covered.set(key, new Set([...[...places].slice(-MOST_PLACES), branch]));
  }

  /** The condition of this branch says that the variable holds something. */
  coverGuarded(name: string, branch: Branch): void {
    if (this.#covered.get(name) === undefined && this.#variables.get(name) === undefined)
      this.#covered.set(name, NOWHERE);
    this.cover(name, branch);
  }

  /** True where the name is set for certain, if the line sets it at all. */
  isCovered(key: string, branch: Branch | undefined): boolean {
    const places = this.#covered.get(key);
    return places === undefined || isInside(branch, places);
  }

  /** Variables that this shell has set or changed, rather than the one it was copied from. */
  ownNames(): Iterable<string> {
    return this.#variables.ownNames();
  }

  unset(name: string, place: Place): void {
    this.assign(name, [name === "IFS" ? { text: SEPARATORS, unset: true } : UNSET], place);
    if (place.certain) this.#functions.set(name, undefined);
  }

  defineFunction(name: string, body: FunctionBody, place: Place): void {
    const known = this.#functions.get(name);
    this.#set(`${name}()`, { ...place, before: known !== undefined });
    if (place.certain || known === undefined) this.#functions.set(name, [body]);
    else if (!known.includes(body)) this.#functions.set(name, [...known, body]);
  }

  /** What the name may be a function for; with more than one body, each may be the one in force. */
  functionsOf(name: string): readonly FunctionBody[] {
    return this.#functions.get(name) ?? [];
  }

  defineAlias(name: string, text: string, { certain }: Pick<Place, "certain">): void {
    const known = certain ? [] : (this.aliases.get(name) ?? []);
    this.aliases.set(name, [...known, text]);
  }

  /** What is known about a variable now, for `maybeAsBefore`. */
  remember(name: string): Remembered {
    return { values: this.#variables.get(name), covered: this.#covered.get(name) };
  }

  /** It may also be as it was; where it is not, in the given place, it has been set since. */
  maybeAsBefore(name: string, { values, covered }: Remembered, place: Place | undefined): void {
    const since = this.#variables.get(name) ?? [];
    const others = (values ?? []).filter((value) => !since.some((other) => sameValue(other, value)));
    const shown = others.length > MOST_VALUES ? [...others.slice(0, MOST_VALUES), { text: UNKNOWN }] : others;
    this.#variables.set(name, [...since, ...shown]);
    this.#covered.set(name, values === undefined ? NOWHERE : covered);
    if (place !== undefined) this.cover(name, place.branch);
  }

  /** `local name`: what it held before comes back when the function ends. */
  makeLocal(name: string): void {
    if (this.#saved === undefined || this.#saved.has(name)) return;
    const values = this.#variables.get(name);
    const covered = this.#covered.get(name);
    this.#saved.set(name, { values, covered, exported: this.#exported.get(name) });
  }

  /** `local name` without a value: what was set around the function need not be set in it. */
  hide(name: string): void {
    if (this.#saved !== undefined && !this.#saved.has(name) && this.#variables.get(name) !== undefined) {
      this.makeLocal(name);
      this.#covered.set(name, NOWHERE);
    }
  }

  /** Runs the body of a function, or a command with assignments in front; what is made local ends with it. */
  withLocals(body: () => void): void {
    const outer = this.#saved;
    const saved = new Map<string, SavedVariable>();
    this.#saved = saved;
    body();
    for (const [name, { values, covered, exported }] of saved) {
      this.#variables.set(name, values);
      this.#covered.set(name, covered);
      this.#exported.set(name, exported);
    }
    this.#saved = outer;
  }
}

interface Environment {
  readonly variables: Below<readonly Value[]>;
  readonly functions: Below<readonly FunctionBody[]>;
  readonly covered: Below<ReadonlySet<Branch>>;
}

interface Remembered {
  readonly values: readonly Value[] | undefined;
  readonly covered: ReadonlySet<Branch> | undefined;
}

interface SavedVariable extends Remembered {
  readonly exported: boolean | undefined;
}

function sameValue(one: Value, other: Value): boolean {
  return (
    one.text === other.text &&
    one.meant === other.meant &&
    one.unset === other.unset &&
    one.items?.join("\0") === other.items?.join("\0") &&
    one.keys?.join("\0") === other.keys?.join("\0")
  );
}
