import { type Command, CommanderError, Option } from "commander";
import { nearest } from "../config/did-you-mean.js";
import type { HermesError } from "../tool/errors.js";
import { type CommandContext, contextOf, type GlobalFlags } from "./context.js";
import { commandError } from "./errors.js";
import { Output } from "./output.js";

export type Action = (context: CommandContext) => Promise<void>;

/** A command as data. What it does is imported when it runs; what it takes is known without that. */
export interface CommandSpec {
  readonly about: string;
  /** `{ "<name>": "what it is" }`, in the order they are typed. */
  readonly args?: Readonly<Record<string, string>>;
  /** Where `--dry-run` is not among them, it is refused. */
  readonly options?: Readonly<Record<string, string | OptionSpec>>;
  /** True where a tool's own arguments may be typed like options. */
  readonly takesAnyOption?: boolean;
  /** Said at the end of its help. */
  readonly helpEnd?: string;
  readonly load?: () => Promise<Action>;
  /** The commands of a noun, by name. */
  readonly commands?: Readonly<Record<string, CommandSpec>>;
  /** Which of them a noun alone means. */
  readonly otherwise?: string;
}

interface OptionSpec {
  readonly about?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly repeats?: boolean;
  readonly hidden?: boolean | undefined;
}

/** For commands that decide about calls. */
export const DRY_RUN = { "--dry-run": "decide, but run nothing" };

/** How the arguments of a call are typed. */
export const CALL_ARGUMENTS = "JSON, key=value pairs, or - for standard input";

/** `outline` leaves out what only its own help and its own run need. */
export function addCommand(
  parent: Command,
  added: {
    readonly name: string;
    readonly spec: CommandSpec;
    readonly outline?: boolean;
    readonly group?: string | undefined;
  },
): void {
  const { name, spec, outline, group } = added;
  const command = parent.command(name).description(spec.about);
  if (group !== undefined) command.helpGroup(group);
  addDetails(command, outline === true ? { about: spec.about } : spec);
}

function addDetails(command: Command, spec: CommandSpec): void {
  for (const [syntax, about] of Object.entries(spec.args ?? {})) command.argument(syntax, about);
  for (const [flags, given] of Object.entries(spec.options ?? {})) {
    command.addOption(optionOf(flags, typeof given === "string" ? { about: given } : given));
  }
  if (spec.takesAnyOption === true) command.allowUnknownOption();
  if (spec.helpEnd !== undefined) command.addHelpText("after", `\n${spec.helpEnd}`);
  for (const [name, inner] of Object.entries(spec.commands ?? {})) {
    const isDefault = name === spec.otherwise;
    addDetails(command.command(name, { isDefault }).description(inner.about), inner);
  }
  if (spec.load !== undefined) command.action(runner(spec.load));
}

function optionOf(flags: string, spec: OptionSpec): Option {
  const option = new Option(flags, spec.about ?? "");
  if (spec.default !== undefined) option.default(spec.default);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.repeats === true) {
    option.argParser((value: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), value]);
  }
  return option.makeOptionMandatory(spec.required === true).hideHelp(spec.hidden === true);
}

/** Loads the code of a command and runs it; what it throws becomes one line and an exit code. */
export function runner(load: () => Promise<Action>): (...parameters: unknown[]) => Promise<void> {
  return async (...parameters) => {
    const command = parameters.at(-1) as Command;
    const out = new Output(command.optsWithGlobals());
    try {
      const { registeredArguments } = command;
      const extra =
        registeredArguments.at(-1)?.variadic === true ? undefined : command.args[registeredArguments.length];
      if (extra !== undefined) throw unexpectedWord(command, extra);
      assertDryRunKnown(command);
      const context = contextOf(command, out);
      await (await load())(context);
    } catch (thrown) {
      if (thrown instanceof CommanderError) throw thrown;
      out.failWith(thrown);
    }
  };
}

/** Whoever wants to look first must not find that it has been done. */
function assertDryRunKnown(command: Command): void {
  if (command.optsWithGlobals<GlobalFlags>().dryRun !== true) return;
  if (command.parent !== null && command.options.some(({ long }) => long === "--dry-run")) return;
  const typed = `hermes ${pathOf(command)}`.trim();
  throw commandError(
    "bad_request",
    `${typed} does not know --dry-run`,
    `Nothing was done. What it knows: ${typed} --help`,
  );
}

/** The command, behind the flags that may stand before it. */
export function firstWord(program: Command, argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (!word.startsWith("-")) return word;
    const option = program.options.find((one) => one.long === word || one.short === word);
    if (option?.required === true) index += 1;
  }
  return undefined;
}

/** A word that no argument takes: mostly a command that was mistyped. */
function unexpectedWord(command: Command, word: string): HermesError {
  const family = command.commands.length > 0 ? command : command.parent;
  const names = (family?.commands ?? []).map((one) => one.name());
  const close = nearest(word, names).map((name) => `hermes ${pathOf(family)}${name}`);
  const said = command.parent === null ? `Unknown command: ${word}` : `Unexpected word: ${word}`;
  const help = `Run "hermes ${pathOf(command)}--help".`;
  return commandError("bad_request", said, close.length > 0 ? `Did you mean ${close.join(", ")}?` : help);
}

/** `tools ` for the tools command, nothing for the program itself. */
function pathOf(command: Command | null): string {
  const names: string[] = [];
  for (let one = command; one !== null && one.parent !== null; one = one.parent) names.unshift(one.name());
  return names.map((name) => `${name} `).join("");
}
