import { type ShellWord, type SimpleCommand, UNKNOWN, type Wrapper } from "../types.js";
import { type OpenerInput, type Opening, wordOf } from "./opening.js";

/** How a wrapper's own options look, so that the command behind them can be found. */
export interface WrapperSpec {
  readonly kind?: Wrapper["kind"];
  /** Names of options without a value, one letter or long, separated by blanks. */
  readonly flags?: string;
  /** Names of options that take the next word (or the rest of theirs). */
  readonly taking?: string;
  /** Options with which nothing is run: listings, versions, acting on a running process. */
  readonly idle?: string;
  /** Options whose value is text for a shell. */
  readonly text?: string;
  /** Options whose value is the folder the command is started in. */
  readonly folder?: string;
  /** Words that stand between the options and the command: a duration, a lock file. */
  readonly operands?: number;
  /** `NAME=value` words may stand before the command. */
  readonly assignments?: boolean;
  /** Sub-commands of which one has to come first, each a `|` list: "run", "exec|x". */
  readonly verb?: string;
  /** The words behind the options are joined and read by a shell. */
  readonly joined?: boolean;
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
    takingSet: names(spec.taking),
    idleSet: names(spec.idle),
    textSet: names(spec.text),
    shellSet: names(spec.shell),
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
  const isKnown = (name: string): boolean => takes(name) || spec.flagSet.has(name) || spec.idleSet.has(name);
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
  { program, fed }: OpenerInput,
): readonly Opening[] {
  const read = readWrapper(args, spec);
  if (read === undefined) return [];
  const compiled = compile(spec);
  for (const name of read.given.keys()) if (compiled.idleSet.has(name)) return [];
  const wrapper: Wrapper = { program, kind: spec.kind ?? "local" };
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const [name, value] of read.given) {
    if (value !== undefined && compiled.textSet.has(name))
      openings.push({ kind: "text", text: value, wrapper });
  }
  const folder = spec.folder
    ?.split(" ")
    .map((name) => read.given.get(name))
    .find((word) => word !== undefined);
  for (const rest of read.rests) {
    if (rest.length === 0) {
      const starts = [...compiled.shellSet].some((name) => name === "*" || read.given.has(name));
      if (starts && fed) openings.push({ kind: "input", wrapper });
    } else if (spec.joined === true) openings.push({ kind: "text", text: joinedWords(rest), wrapper });
    else openings.push({ kind: "argv", argv: rest, wrapper, assignments: read.assignments, folder });
  }
  return openings;
}

function joinedWords(words: readonly ShellWord[]): ShellWord {
  return wordOf(words.map((word) => word.text).join(" "), words.length === 1 ? words[0] : undefined);
}
