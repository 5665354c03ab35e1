import { type ParsedOptions, parseOptions } from "../read/options.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";

/** One thing a program can be told to do that a person should see first, with lines that show it. */
export interface Row {
  /**
   * Sub-command words, each a `|` list of spellings; `*` is any one word, a leading `**` any number of words, a
   * first word with `?` may be left out: "volume rm|prune", "** delete", "container? run". Without a path every
   * use counts.
   */
  readonly path?: string | undefined;
  /** One of these options is given, names without dashes: "f force"; "replicas=0" with one of these values. */
  readonly options?: string | undefined;
  /** One of the words is like this, as it is written. */
  readonly word?: RegExp | undefined;
  /** None of the words is like this. */
  readonly unless?: RegExp | undefined;
  /** What the fields above cannot say. The word it returns is the one that decided. */
  readonly when?: Condition | undefined;
  /** `danger` when absent. */
  readonly level?: Finding["level"] | undefined;
  /** `family.what`; without it the family and the last word of the path, or the program. */
  readonly rule?: string | undefined;
  readonly family?: string | undefined;
  /** A short clause after "this command …"; that of the tool when absent. */
  readonly reason?: string | undefined;
  /** Lines this row catches. */
  readonly match: readonly string[];
  /** Lines beside them that it leaves alone. */
  readonly not_match?: readonly string[] | undefined;
}

export type Condition = (call: Call) => ShellWord | Clue | boolean | undefined;

/** What a condition found when it knows better than its row what to say about it. */
export interface Clue {
  readonly word?: ShellWord | undefined;
  readonly reason?: string;
  /** What the rule is called after, when the row has neither an id nor a path. */
  readonly verb?: ShellWord | undefined;
}

/** How the words of a program are read; its rows are asked in order, the first that fits decides. */
export interface Tool {
  /** "docker|podman"; `*` is every program. */
  readonly program: string;
  /** First half of the rule ids made from the path; the family of the file when absent. */
  readonly family?: string | undefined;
  /** Options, of the program or a sub-command, that take the next word: "n namespace f file". */
  readonly taking?: string;
  /** Long options that may be cut short. */
  readonly long?: string;
  /** `go` programs spell long options with one dash too, so there are no clusters. */
  readonly style?: "go";
  /**
   * Options with which it only shows what would happen: "n dry-run". With "" even `--help` counts in front of the
   * operands only, for programs that may take whatever follows an operand for another.
   */
  readonly dry?: string | undefined;
  /** Words with which it only shows or asks, as they are written. */
  readonly unless?: RegExp | undefined;
  /** Of a class, and yet its name among the words of a program nobody knows is taken for a call of it. */
  readonly isNamed?: boolean;
  /** A verb that only the running shell knows counts as any of the rows. */
  readonly unknownVerb?: boolean;
  /** Another program's call inside this one (`docker compose …`), judged by that program's rows. */
  readonly carries?: (command: SimpleCommand) => SimpleCommand | undefined;
  /** Rule and reason of rows that give none. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  /** Lines that no row catches. */
  readonly not_match?: readonly string[] | undefined;
  readonly rows: readonly Row[];
}

/** What tools beside each other have in common; each may still say it otherwise. */
type Shared = Partial<Pick<Tool, "family" | "rule" | "reason" | "dry" | "taking" | "style" | "unknownVerb">>;

/** One row with its program, a tool with several rows, or tools that share something. */
export type Entry =
  | (Row & Omit<Tool, "rows" | "not_match" | "unless">)
  | Tool
  | (Shared & { readonly tools: readonly Entry[] });

/** Families of classes that any program may fall into: they say nothing about what else the program does. */
export const CLASS_FAMILIES: ReadonlySet<string> = new Set([
  "starter",
  "foreign-code",
  "remote-access",
  "desktop",
  "abuse",
  "devices",
  "money",
  "publishing",
  "data",
  "memory",
  "package-server",
  "safeguard",
  "exposure",
  "unlisted",
]);

/** What one file of rules holds. */
export interface Subject {
  readonly tools: readonly Tool[];
}

export function subject(family: string, entries: readonly Entry[]): Subject {
  return { tools: entries.flatMap((entry) => toolsOf(entry, { family })) };
}

function toolsOf(entry: Entry, shared: Shared): readonly Tool[] {
  if ("tools" in entry) {
    const { tools, ...more } = entry;
    return tools.flatMap((each) => toolsOf(each, { ...shared, ...more }));
  }
  if ("rows" in entry) return [{ ...shared, ...entry }];
  const { path, options, word, unless, when, level, match, not_match, ...tool } = entry;
  return [{ ...shared, ...tool, rows: [{ path, options, word, unless, when, level, match, not_match }] }];
}

export function programsOf({ program }: Tool): readonly string[] {
  return program.split("|");
}

/** One command as its tool reads it. */
export class Call implements ParsedOptions {
  /** What follows the words of the path. */
  rest: readonly ShellWord[] = [];
  #parsed: ParsedOptions | undefined;

  constructor(
    readonly command: SimpleCommand,
    readonly reading: Reading,
  ) {}

  get args(): readonly ShellWord[] {
    return this.command.args;
  }

  get flags(): ReadonlySet<string> {
    return this.parsed.flags;
  }

  get values(): ReadonlyMap<string, readonly ShellWord[]> {
    return this.parsed.values;
  }

  get operands(): readonly ShellWord[] {
    return this.parsed.operands;
  }

  get parsed(): ParsedOptions {
    this.#parsed ??= readOptions(this.command.args, this.reading);
    return this.#parsed;
  }

  /** True when one of the options was given at all. */
  has(...names: readonly string[]): boolean {
    return has(this, ...names);
  }

  /** Texts given to any of the options. */
  given(...names: readonly string[]): readonly ShellWord[] {
    return valuesOf(this, ...names);
  }

  /** The first word that is like this, as it is written. */
  find(pattern: RegExp): ShellWord | undefined {
    return this.command.args.find(({ text }) => pattern.test(text));
  }

  /** The word after an option, as it is written. */
  after(option: RegExp): ShellWord | undefined {
    return this.command.args.find((_, index, args) => option.test(args[index - 1]?.text ?? ""));
  }

  /** The text of an operand. */
  operand(index: number): string {
    return this.operands[index]?.text ?? "";
  }
}

export function danger(rule: string, reason: string, word?: ShellWord): Finding {
  return { level: "danger", rule, reason, span: word?.span };
}

/** True when one of the options was given at all. */
export function has(options: ParsedOptions, ...names: readonly string[]): boolean {
  return names.some((name) => options.flags.has(name));
}

/** Texts given to any of the options. */
export function valuesOf(options: ParsedOptions, ...names: readonly string[]): readonly ShellWord[] {
  return names.flatMap((name) => options.values.get(name) ?? []);
}

/** A list written as one line: `names("stop restart")`. */
export const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));

interface Reading {
  readonly taking?: ReadonlySet<string>;
  readonly long?: readonly string[];
  readonly style?: "gnu" | "go" | undefined;
}

export function readOptions(args: readonly ShellWord[], reading: Reading): ParsedOptions {
  if (reading.style !== "go") return parseOptions(args, reading);
  const { taking = NOTHING } = reading;
  const flags = new Set<string>();
  const values = new Map<string, ShellWord[]>();
  const operands: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    if (word.text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    const match = /^--?([^=-][^=]*)(?:=([\s\S]*))?$/.exec(word.text);
    const name = match?.[1];
    if (name === undefined) {
      operands.push(word);
      continue;
    }
    flags.add(name);
    const value = match?.[2] === undefined ? undefined : { ...word, text: match[2] };
    const given = value ?? (taking.has(name) ? args[++index] : undefined);
    if (given !== undefined) values.set(name, [...(values.get(name) ?? []), given]);
  }
  return { flags, values, operands };
}

const NOTHING: ReadonlySet<string> = new Set();

type Step = ReadonlySet<string> | "one" | "many";

interface CompiledRow {
  readonly row: Row;
  /** The path, and again without its first word when that may be left out. */
  readonly paths: readonly (readonly Step[])[];
  readonly options: readonly (readonly [name: string, values: readonly string[] | undefined])[];
}

interface CompiledTool {
  readonly reading: Reading & { readonly taking: ReadonlySet<string> };
  /** Undefined when there are none. */
  readonly dry: readonly string[] | undefined;
  readonly rows: readonly CompiledRow[];
}

const compiled = new WeakMap<Tool, CompiledTool>();

/** Rows are taken apart when their program is met first. */
function compile(tool: Tool): CompiledTool {
  const known = compiled.get(tool);
  if (known !== undefined) return known;
  const taking = tool.taking === undefined ? NOTHING : names(tool.taking);
  const made: CompiledTool = {
    reading: { taking, long: tool.long?.split(" ") ?? [], style: tool.style },
    dry:
      tool.dry === ""
        ? undefined
        : ["help", ...(taking.has("version") ? [] : ["version"]), ...(tool.dry?.split(" ") ?? [])],
    rows: tool.rows.map((row) => ({
      row,
      paths: row.path === undefined ? [] : pathsOf(row.path),
      options: (row.options?.split(" ") ?? []).map((option) => {
        const [name = "", values] = option.split("=");
        return [name, values?.split("|")] as const;
      }),
    })),
  };
  compiled.set(tool, made);
  return made;
}

function pathsOf(path: string): readonly (readonly Step[])[] {
  const steps = path.replace("? ", " ").split(" ").map(stepOf);
  return path.includes("? ") ? [steps.slice(1), steps] : [steps];
}

function stepOf(word: string): Step {
  return word === "**" ? "many" : word === "*" ? "one" : new Set(word.toLowerCase().split("|"));
}

/** The row that decides about a command, and the word in it that did. */
export function decidingRow(
  tool: Tool,
  command: SimpleCommand,
): { readonly row: Row; readonly finding: Finding } | undefined {
  const compiledTool = compile(tool);
  const { reading, rows } = compiledTool;
  if (tool.unless !== undefined && command.args.some(({ text }) => tool.unless?.test(text))) return undefined;
  const call = new Call(command, reading);
  if (tool.program !== "*" && onlyShows(call, compiledTool)) return undefined;
  for (const each of rows) {
    const finding = judge(each, call, tool);
    if (finding !== undefined) return { row: each.row, finding };
  }
  return undefined;
}

function onlyShows(call: Call, { dry, reading }: CompiledTool): boolean {
  if (call.args.length === 0) return false;
  if (dry === undefined) {
    const end = call.args.findIndex(({ text }) => text === "--" || !text.startsWith("-"));
    const front = end < 0 ? call.args : call.args.slice(0, end);
    return front.some(
      ({ text }) => text === "--help" || (text === "--version" && !reading.taking.has("version")),
    );
  }
  if (call.operands[0]?.text === "help") return true;
  return dry.some(
    (name) => call.flags.has(name) && !/^(?:false|none)$/.test(call.given(name)[0]?.text ?? ""),
  );
}

function judge({ row, paths, options }: CompiledRow, call: Call, tool: Tool): Finding | undefined {
  let word: ShellWord | undefined;
  if (paths.length > 0) {
    let end = -1;
    for (const steps of paths) if (end < 0) end = matchSteps(steps, call.operands, tool.unknownVerb === true);
    if (end < 0) return undefined;
    word = call.operands[end - 1];
    call.rest = call.operands.slice(end);
  }
  if (options.length > 0 && !options.some(([name, values]) => isGiven(call, name, values))) return undefined;
  if (row.unless !== undefined && call.find(row.unless) !== undefined) return undefined;
  const verb = word;
  if (row.word !== undefined) {
    word = call.find(row.word);
    if (word === undefined) return undefined;
  }
  if (row.path === undefined && row.word === undefined)
    word = call.command.program.includes(" ") ? call.command.name : call.args[0];
  const found = row.when === undefined || row.when(call);
  return found === undefined || found === false
    ? undefined
    : findingOf(row, tool, { call, found, verb, word });
}

function findingOf(
  row: Row,
  tool: Tool,
  by: {
    readonly call: Call;
    readonly found: ShellWord | Clue | true;
    readonly verb?: ShellWord | undefined;
    readonly word?: ShellWord | undefined;
  },
): Finding {
  const { call, found } = by;
  const clue: Clue = found === true ? by : "text" in found ? { word: found } : found;
  return {
    level: row.level ?? "danger",
    rule:
      row.rule ??
      tool.rule ??
      `${row.family ?? tool.family}.${kindOf(call.command.program, by.verb ?? clue.verb)}`,
    reason: clue.reason ?? row.reason ?? tool.reason ?? "",
    span: clue.word?.span,
  };
}

/** Rows about every program, asked one after the other: they have nothing but a condition. */
export function findingsOfEvery(
  rows: readonly { readonly tool: Tool; readonly row: Row }[],
  command: SimpleCommand,
): Finding[] {
  const findings: Finding[] = [];
  const call = new Call(command, READS_NOTHING);
  for (const { tool, row } of rows) {
    const found = row.when?.(call);
    if (found !== undefined && found !== false) findings.push(findingOf(row, tool, { call, found }));
  }
  return findings;
}
const READS_NOTHING: Reading = {};

/** The verb, or the program: `git push` is a program of its own, whatever follows. */
function kindOf(program: string, verb: ShellWord | undefined): string {
  const cut = program.lastIndexOf(" ");
  return verb === undefined || cut >= 0 ? program.slice(cut + 1) : slug(verb.text);
}

function isGiven(call: Call, name: string, values: readonly string[] | undefined): boolean {
  if (values === undefined) return call.flags.has(name);
  return call.given(name).some(({ text }) => values.includes(text));
}

/** How many words deep a `**` looks: resource types nest, names that follow are data. */
const DEEPEST = 6;

/** Index after the last word of the path, or -1. */
function matchSteps(steps: readonly Step[], operands: readonly ShellWord[], unknownVerb: boolean): number {
  if (steps[0] !== "many") return beginsAt(0, { steps, operands, unknownVerb }) ? steps.length : -1;
  const others = steps.slice(1);
  for (let start = 0; start < Math.min(operands.length, DEEPEST); start++)
    if (beginsAt(start, { steps: others, operands, unknownVerb: false })) return start + others.length;
  return -1;
}

function beginsAt(
  start: number,
  path: {
    readonly steps: readonly Step[];
    readonly operands: readonly ShellWord[];
    readonly unknownVerb: boolean;
  },
): boolean {
  return path.steps.every((step, index) => {
    const word = path.operands[start + index];
    if (word === undefined) return false;
    if (!(step instanceof Set)) return true;
    const mayBe = path.unknownVerb && !word.known && index === path.steps.length - 1;
    return mayBe || step.has(word.text.toLowerCase());
  });
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "command"
  );
}

/** The tool as a rule about one command; `ask` judges the call it carries. */
export function ruleOf(tool: Tool, ask: Rule): Rule {
  return (command) => {
    const finding = decidingRow(tool, command)?.finding;
    if (finding !== undefined || tool.carries === undefined) return finding;
    const inner = tool.carries(command);
    return inner === undefined ? undefined : ask(inner);
  };
}

/** `docker compose …`, `uv pip …`: what follows the verb is a call of another program. */
export function carriedAfter(verb: string, program: string): NonNullable<Tool["carries"]> {
  return (command) => {
    const { args } = command;
    const at = args.findIndex(({ text }) => text === verb);
    const isOption = (index: number): boolean => args[index]?.text.startsWith("-") === true;
    if (at < 0 || args.slice(0, at).some((_, index) => !isOption(index) && !isOption(index - 1)))
      return undefined;
    return { ...command, program, args: args.slice(args[at + 1]?.text === "--" ? at + 2 : at + 1) };
  };
}
