import { type ShellWord, type SimpleCommand, UNKNOWN, type Wrapper } from "../types.js";
import { parseOptions } from "./options.js";

/** Something that runs inside a command: what `sudo`, `sh -c`, `xargs` or `find -exec` lead to. */
export type Opening =
  /** A program with its words. */
  | {
      readonly kind: "argv";
      readonly argv: readonly ShellWord[];
      readonly wrapper: Wrapper;
      readonly assignments?: SimpleCommand["assignments"];
      /** Runs once for each of many operands. */
      readonly repeated?: boolean | undefined;
      /** The folder it is started in. */
      readonly folder?: ShellWord | undefined;
    }
  /** A text that a shell reads. */
  | {
      readonly kind: "text";
      readonly text: ShellWord;
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      /** The word of `$0` in it. */
      readonly zero?: ShellWord | undefined;
      readonly repeated?: boolean | undefined;
      readonly foreign?: boolean | undefined;
      /** Runs in the very same shell: `eval`, `trap`. */
      readonly here?: boolean;
      /** Runs when the shell ends, with what its variables hold by then. */
      readonly later?: boolean;
    }
  /** A shell that reads its commands from standard input. */
  | {
      readonly kind: "input";
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      readonly foreign?: boolean | undefined;
      readonly here?: boolean;
    }
  /** A file of shell commands. */
  | {
      readonly kind: "script";
      readonly path: ShellWord;
      readonly wrapper: Wrapper;
      readonly positional?: readonly ShellWord[] | undefined;
      readonly foreign?: boolean | undefined;
      readonly here?: boolean;
    }
  /** Something runs, but what cannot be told. */
  | { readonly kind: "opaque" };

/** What a carrier leads to. An empty list: it carries nothing this time (`sudo -l`, `env` alone). */
export type Opener = (args: readonly ShellWord[], input: OpenerInput) => readonly Opening[];

export interface OpenerInput {
  readonly program: string;
  /** What is known to arrive on standard input; undefined when nothing or nobody knows. */
  readonly stdin: string | undefined;
  /** True when something arrives on standard input. */
  readonly fed: boolean;
  readonly assignments: SimpleCommand["assignments"];
  /** What stands in a file that the same line wrote. */
  fileText(path: string): string | undefined;
}

export function local(program: string): Wrapper {
  return { program, kind: "local" };
}

/** Words as one text for a shell, the way `ssh` and `watch` join them. */
export function joinWords(words: readonly ShellWord[]): ShellWord {
  const variables = words.flatMap((word) => word.variables ?? []);
  const outputs = words.flatMap((word) => word.outputs ?? []);
  const [first] = words;
  return {
    text: words.map((word) => word.text).join(" "),
    known: words.every((word) => word.known),
    glob: false,
    variables: variables.length > 0 ? variables : undefined,
    outputs: outputs.length > 0 ? outputs : undefined,
    span: words.length === 1 ? first?.span : undefined,
  };
}

export function wordOf(text: string, like?: ShellWord): ShellWord {
  return { ...like, text, known: !text.includes("\uFFFC"), glob: false };
}

/** How a wrapper's own options look, so that the command behind them can be found. */
export interface WrapperSpec {
  readonly kind?: Wrapper["kind"];
  /** Options that name the user whose rights are lent, or `1` for the first of the fixed words. */
  readonly user?: string;
  /** Names of options without a value, one letter or long, separated by blanks. */
  readonly flags?: string;
  /** Names of options that take the next word (or the rest of theirs). */
  readonly taking?: string;
  /** Options with which nothing is run: listings, versions, acting on a running process. */
  readonly idle?: string;
  /** Options whose value is text for a shell. */
  readonly text?: string;
  /** Options whose value is a file, or behind `|` or `!` text for a shell. */
  readonly piped?: string;
  /** Options whose value is the folder the command is started in. */
  readonly folder?: string;
  /** Words that stand between the options and the command: a duration, a lock file. */
  readonly operands?: number;
  /** `NAME=value` words may stand before the command. */
  readonly assignments?: boolean;
  /** Sub-commands of which one has to come first, each a `|` list: "run", "exec|x". */
  readonly verb?: string;
  /** The words behind the options are joined and read by a shell: always, or with one of these options. */
  readonly joined?: boolean | string;
  /** With one of these the words are a program after all: `watch -x`. */
  readonly direct?: string;
  /** Every operand is a command line of its own. */
  readonly each?: boolean;
  /** Runs again and again, or once for each of many things. */
  readonly repeated?: boolean;
  /** The words are for this program: `capsh -- -c 'cmd'`. */
  readonly prefix?: string;
  /** Options that take two words: `bwrap --bind FROM TO`. */
  readonly takingTwo?: string;
  /**
   * Options anywhere whose value is a command line, of a program that does its own work besides. A name with a dash in
   * front is taken as it is, for programs that spell long options with one.
   */
  readonly holds?: string;
  /** `-10` is an option of its own, as in `nice -10`. */
  readonly digits?: boolean;
  /** The command stands behind `--` only. */
  readonly afterDashes?: boolean;
  /** Without a command it starts a shell: always ("*"), or with one of these options. */
  readonly shell?: string;
  /** Long options are only ever `--name=value` or flags; unknown ones take no other word. */
  readonly lenient?: boolean;
}

interface CompiledSpec extends WrapperSpec {
  readonly flagSet: ReadonlySet<string>;
  readonly takingSet: ReadonlySet<string>;
  readonly idleSet: ReadonlySet<string>;
  readonly textSet: ReadonlySet<string>;
  readonly shellSet: ReadonlySet<string>;
  readonly twoSet: ReadonlySet<string>;
  readonly verbs: readonly ReadonlySet<string>[];
}

const names = (list: string | undefined): ReadonlySet<string> => new Set(list?.split(" "));
const COMPILED = new WeakMap<WrapperSpec, CompiledSpec>();

function compile(spec: WrapperSpec): CompiledSpec {
  const known = COMPILED.get(spec);
  if (known !== undefined) return known;
  const compiled = {
    ...spec,
    flagSet: names(spec.flags),
    takingSet: names([spec.taking, spec.piped].filter((list) => list !== undefined).join(" ")),
    idleSet: names(spec.idle),
    textSet: names(spec.text),
    shellSet: names(spec.shell),
    twoSet: names(spec.takingTwo),
    verbs: spec.verb === undefined ? [] : spec.verb.split(" ").map((verb) => new Set(verb.split("|"))),
  };
  COMPILED.set(spec, compiled);
  return compiled;
}

export interface ReadWrapper {
  /** Every way in which the words may be meant; more than one when an option is not known. */
  readonly rests: readonly (readonly ShellWord[])[];
  readonly given: ReadonlyMap<string, ShellWord | undefined>;
  /** Fixed words before the command. */
  readonly operands: readonly ShellWord[];
  readonly assignments: SimpleCommand["assignments"];
  readonly doubtful: boolean;
}

/** Finds the command behind a wrapper's options. Undefined when the sub-command that runs things was not given. */
export function readWrapper(args: readonly ShellWord[], spec: WrapperSpec): ReadWrapper | undefined {
  const compiled = compile(spec);
  const given = new Map<string, ShellWord | undefined>();
  const rests: (readonly ShellWord[])[] = [];
  const operands: ShellWord[] = [];
  let doubtful = false;
  let at = 0;
  const options = (): void => {
    for (; at < args.length; at++) {
      const word = args[at] as ShellWord;
      if (word.text === "--") return;
      if (word.text === UNKNOWN && at + 1 < args.length) {
        // It may be an option, or nothing at all: what follows could be the command.
        rests.push(args.slice(at));
        continue;
      }
      if (!word.text.startsWith("-") || word.text === "-") return;
      if (spec.digits === true && /^-\d+$/.test(word.text)) continue;
      const read = readOption(word, args[at + 1], compiled);
      for (const name of read.names) given.set(name, read.value);
      if (read.unknown) {
        doubtful = true;
        rests.push(args.slice(at + 2));
      }
      if (read.tookNext) at++;
      if (read.names.some((name) => compiled.twoSet.has(name))) at += 2;
    }
  };
  options();
  for (const verbs of compiled.verbs) {
    if (!verbs.has(args[at]?.text ?? "")) return undefined;
    at++;
    options();
  }
  if (spec.afterDashes === true) {
    const dashes = args.findIndex((word, index) => index >= at && word.text === "--");
    if (dashes < 0) return { rests: [], given, operands, assignments: [], doubtful: false };
    at = dashes;
  }
  if (args[at]?.text === "--") at++;
  for (let count = 0; count < (spec.operands ?? 0) && at < args.length; count++) {
    operands.push(args[at++] as ShellWord);
    if (args[at]?.text === "--") at++;
  }
  const assignments: { name: string; value: ShellWord }[] = [];
  while (spec.assignments === true) {
    const match = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(args[at]?.text ?? "");
    if (match === null) break;
    assignments.push({ name: match[1] ?? "", value: wordOf(match[2] ?? "", args[at]) });
    at++;
  }
  rests.push(args.slice(at));
  return { rests, given, operands, assignments, doubtful };
}

function readOption(
  word: ShellWord,
  next: ShellWord | undefined,
  spec: CompiledSpec,
): {
  readonly names: readonly string[];
  readonly value: ShellWord | undefined;
  readonly tookNext: boolean;
  readonly unknown: boolean;
} {
  const { text } = word;
  const takes = (name: string): boolean => spec.takingSet.has(name) || spec.textSet.has(name);
  const isKnown = (name: string): boolean =>
    takes(name) || spec.flagSet.has(name) || spec.idleSet.has(name) || spec.twoSet.has(name);
  const cut = text.indexOf("=");
  const long = text.replace(/^--?/, "").replace(/=[\s\S]*$/, "");
  if (text.startsWith("--") || (long.length > 1 && isKnown(long))) {
    if (cut > 0)
      return { names: [long], value: wordOf(text.slice(cut + 1), word), tookNext: false, unknown: false };
    const value = takes(long) ? next : undefined;
    return { names: [long], value, tookNext: takes(long), unknown: !isKnown(long) && spec.lenient !== true };
  }
  const letters: string[] = [];
  for (let index = 1; index < text.length; index++) {
    const letter = text[index] as string;
    letters.push(letter);
    if (takes(letter)) {
      const attached = index + 1 < text.length ? wordOf(text.slice(index + 1), word) : undefined;
      return { names: letters, value: attached ?? next, tookNext: attached === undefined, unknown: false };
    }
    if (!isKnown(letter))
      return { names: letters, value: undefined, tookNext: false, unknown: spec.lenient !== true };
  }
  return { names: letters, value: undefined, tookNext: false, unknown: false };
}

/** The usual wrapper: options, perhaps some words, then the command. */
export function openBySpec(
  spec: WrapperSpec,
  args: readonly ShellWord[],
  { program, fed }: Pick<OpenerInput, "program" | "fed">,
): readonly Opening[] {
  if (spec.holds !== undefined) return heldTexts(args, { program, spec });
  const read = readWrapper(args, spec);
  if (read === undefined) return [];
  const compiled = compile(spec);
  const isGiven = (list: string | undefined) =>
    list?.split(" ").some((name) => name === "*" || read.given.has(name)) === true;
  if (isGiven(spec.idle)) return [];
  const wrapper: Wrapper = { program, kind: spec.kind ?? "local", user: otherUser(userIn(read, spec)) };
  const { repeated } = spec;
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const [name, value] of read.given) {
    if (value !== undefined && compiled.textSet.has(name))
      openings.push({ kind: "text", text: value, wrapper, repeated });
  }
  for (const name of spec.piped?.split(" ") ?? []) {
    const piped = /^\s*[|!]([\s\S]+)$/.exec(read.given.get(name)?.text ?? "")?.[1];
    if (piped !== undefined) openings.push({ kind: "text", text: wordOf(piped), wrapper });
  }
  const hasText = openings.some(({ kind }) => kind === "text");
  const folder = spec.folder
    ?.split(" ")
    .map((name) => read.given.get(name))
    .find((word) => word !== undefined);
  for (const rest of read.rests) {
    if (rest.length === 0) {
      if (isGiven(spec.shell) && fed && !hasText) openings.push({ kind: "input", wrapper });
    } else if (spec.each === true) {
      for (const text of operandsIn(rest, compiled)) openings.push({ kind: "text", text, wrapper });
    } else if (spec.joined === true ? !isGiven(spec.direct) : isGiven(spec.joined || undefined)) {
      openings.push({ kind: "text", text: joinWords(rest), wrapper, repeated });
    } else {
      const argv = spec.prefix === undefined ? rest : [wordOf(spec.prefix), ...rest];
      openings.push({ kind: "argv", argv, wrapper, assignments: read.assignments, folder, repeated });
    }
  }
  return openings;
}

function userIn(read: ReadWrapper, { user }: WrapperSpec): ShellWord | undefined {
  return user
    ?.split(" ")
    .map((name) => (name === "1" ? read.operands[0] : read.given.get(name)))
    .find((word) => word !== undefined);
}

/** A name that is not root's, as far as anybody can tell. */
export function otherUser(word: ShellWord | undefined): string | undefined {
  return word?.known === true && !/^(?:root|#?0)?(?::.*)?$/.test(word.text) ? word.text : undefined;
}

function operandsIn(words: readonly ShellWord[], { takingSet }: CompiledSpec): readonly ShellWord[] {
  const takes = (word: ShellWord | undefined) =>
    /^-/.test(word?.text ?? "") && takingSet.has(word?.text.replace(/^--?/, "") ?? "");
  return words.filter((word, index) => !word.text.startsWith("-") && !takes(words[index - 1]));
}

/** More command lines than this in one command are not followed one by one. */
const MOST_HELD = 64;

function heldTexts(
  args: readonly ShellWord[],
  { program, spec }: { readonly program: string; readonly spec: WrapperSpec },
): readonly Opening[] {
  const held = spec.holds?.split(" ") ?? [];
  const named = held.filter((name) => !name.startsWith("-"));
  const { values } = parseOptions(args, {
    taking: [...named, ...names(spec.taking)],
    long: named.filter((name) => name.length > 1),
  });
  const spelled = held.filter((name) => name.startsWith("-"));
  const exact = args.flatMap((word, index): readonly ShellWord[] => {
    if (spelled.includes(args[index - 1]?.text ?? "")) return [word];
    const name = spelled.find((each) => word.text.startsWith(`${each}=`));
    return name === undefined ? [] : [wordOf(word.text.slice(name.length + 1), word)];
  });
  return textsOf([...named.flatMap((name) => values.get(name) ?? []), ...exact], program);
}

/** Command lines that a program was given to run; what only the running shell knows is not one of them. */
export function textsOf(words: readonly ShellWord[], program: string): readonly Opening[] {
  const known = words.filter(({ text }) => text.replaceAll(UNKNOWN, "").trim() !== "");
  const openings = known
    .slice(0, MOST_HELD)
    .map((text): Opening => ({ kind: "text", text, wrapper: local(program), foreign: true }));
  return known.length > MOST_HELD ? [{ kind: "opaque" }, ...openings] : openings;
}
