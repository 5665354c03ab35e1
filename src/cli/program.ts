import { Command, CommanderError, Option } from "commander";
import { type Failure, failure } from "../tool/errors.js";
import { VERSION } from "../version.js";
import { addCommand, type CommandSpec, firstWord, runner } from "./command.js";
import { COMMANDS, GROUPS } from "./commands.js";
import { EXIT } from "./errors.js";
import { variablesOfServers } from "./mcp.js";
import { Output } from "./output.js";
import { addPluginCommand } from "./plugins.js";
import { pluralOf } from "./tool.js";

/** With `argv`, only the command it names is made in full: the others need a name for suggestions. */
export function buildProgram({ argv = [] }: { readonly argv?: readonly string[] }): Command {
  const program = new Command("hermes")
    .description("Tools runtime for AI agents")
    .version(VERSION, "-V, --version")
    .option("--json", "one JSON value on stdout, errors as one JSON line on stderr")
    .option("--jsonl", "one JSON value per line")
    .option("-q, --quiet", "results only")
    .option("-v, --verbose", "say more")
    .option("--profile <name>", "permission profile")
    .option("-t, --toolsets <names>", "toolsets, comma separated")
    .option("--env <name>", "environment that runs the tools")
    .option("--timeout <seconds>", "longest time for one call")
    .option("--yolo", "answer every question with yes (what is never allowed stays refused)")
    .option("--yes", "answer confirmations of this command with yes")
    .option("--no-color", "no colours")
    // Read wherever it stands; told by the commands that know it, refused by the others.
    .addOption(new Option("--dry-run").hideHelp())
    .addOption(new Option("--ascii", "no emoji or special signs").hideHelp())
    .option("--home <dir>", "Hermes home (HERMES_HOME)")
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .enablePositionalOptions(false)
    .helpCommand(true)
    .exitOverride()
    // Words too many are reported by the runner, which can say what was meant.
    .allowExcessArguments()
    .action(runner(async () => (await import("./banner.js")).banner));
  const word = firstWord(program, argv);
  const known = word !== undefined && Object.hasOwn(COMMANDS, word);
  if (known) giveUpShortOptions(program, COMMANDS[word]);
  for (const [name, spec] of Object.entries(COMMANDS)) {
    const group = Object.entries(GROUPS).find(([, { commands }]) => commands.includes(name))?.[0];
    addCommand(program, { name, spec, outline: known && name !== word, group });
  }
  program.addHelpText("after", () => {
    const lines = Object.values(GROUPS).flatMap(({ examples }) => examples.map((line) => `  ${line}`));
    return `\nExamples:\n${lines.join("\n")}`;
  });
  return program;
}

/** A letter that a command uses for something of its own means that: `-q` asks in `hermes chat`. */
function giveUpShortOptions(program: Command, spec: CommandSpec | undefined): void {
  const own = Object.keys(spec?.options ?? {}).map((flags) => flags.split(/[ ,]/, 1)[0]);
  for (const option of program.options) {
    if (option.short === undefined || !own.includes(option.short)) continue;
    option.flags = option.long ?? option.flags;
    delete option.short;
  }
}

/** What a command that was told to end may still take: an engine that does not answer must not keep it. */
const LAST_MS = 4_500;

function endWhenTold(): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      // A command that has nothing to put in order ends as if nobody listened.
      if (process.listenerCount(signal) === 1) process.exit(EXIT.interrupted);
      setTimeout(() => process.exit(EXIT.interrupted), LAST_MS).unref();
    });
  }
}

export async function runProgram(argv: readonly string[]): Promise<void> {
  endWhenTold();
  // A reader such as `head` may leave early: no reason for a stack, or to end a call that is running.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  // Standard output belongs to results: what a tool or a plugin says with `console.log` must not get among them.
  globalThis.console = new console.Console({ stdout: process.stderr, stderr: process.stderr });
  const json = argv.includes("--json") || argv.includes("--jsonl");
  const words = pluralOf(argv);
  let program: Command | undefined;
  try {
    // What the completion scripts ask; not a command for people.
    if (argv[0] === "complete") return await (await import("./completion.js")).complete(argv.at(-1) ?? "");
    program = buildProgram({ argv: words });
    if (json) silence(program);
    await addPluginCommand(program, argv);
    await program.parseAsync(variablesOfServers(words), { from: "user" });
  } catch (thrown) {
    const out = new Output({ json });
    if (!(thrown instanceof CommanderError)) out.failWith(thrown);
    else if (thrown.exitCode !== 0) {
      process.exitCode = EXIT.usage;
      const said = usageFailure(thrown, program === undefined ? [] : commandPath(program, words));
      // The parser has said the rest already, unless a program reads.
      if (json) out.fail(said, EXIT.usage);
      else if (thrown.code !== "commander.help" && !thrown.message.includes("\n")) out.note(said.hint ?? "");
    }
  }
}

/** The parser's own words about a mistake; with `--json` one line of JSON takes their place. */
export function silence(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}

/** The command that the words name, as it is typed. */
function commandPath(program: Command, argv: readonly string[]): readonly string[] {
  const first = firstWord(program, argv);
  const path: string[] = [];
  let command = program;
  for (const word of first === undefined ? [] : argv.slice(argv.indexOf(first))) {
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) continue;
    path.push(word);
    command = inner;
  }
  return path;
}

/** The parser's message has its suggestion on a second line, in brackets. */
function usageFailure(error: CommanderError, path: readonly string[]): Failure {
  const typed = ["hermes", ...path].join(" ");
  const help = `Run "${typed} --help".`;
  if (error.code === "commander.help") return failure("bad_request", `${typed} is not a whole command`, help);
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n", 2);
  return failure("bad_request", message, suggestion?.replace(/^\((.*)\)$/, "$1") ?? help);
}
