import { Command, CommanderError } from "commander";
import { loadConfig } from "../../config/load.js";
import { homeDir } from "../../config/paths.js";
import type { PluginCommand } from "../../sources/plugins/types.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { withSession } from "../session/with-session.js";

/** The plugin whose manifest has this command, if it is enabled. Only manifests are read. */
export async function pluginWithCommand(word: string, argv: readonly string[]): Promise<string | undefined> {
  const home = homeDir({ env: process.env, flags: { home: flagValue(argv, "--home") } });
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env });
  const { enabled, disabled } = config.values.plugins;
  if (enabled.length === 0) return undefined;
  const { findPlugins } = await import("../../sources/plugins/find-plugins.js");
  const found = await findPlugins(config);
  return found.find(
    ({ name, manifest }) =>
      enabled.includes(name) && !disabled.includes(name) && manifest?.brings.commands.includes(word) === true,
  )?.name;
}

/** Runs `hermes WORD …` of a plugin, in a session like every other command. */
export async function runPluginCommand(
  context: CommandContext,
  { name, plugin }: { readonly name: string; readonly plugin: string },
): Promise<void> {
  const { out } = context;
  await withSession(context, async (session, signal, { runtime }) => {
    const command = runtime.sources.plugins?.command(name)?.command;
    if (command === undefined) {
      const status = runtime.sources.status().find(({ source }) => source === `plugin:${plugin}`);
      const reason = status?.reason ?? "it was not brought";
      throw commandError(
        "unavailable",
        `The plugin ${plugin} cannot run hermes ${name}: ${reason}`,
        status?.fix,
      );
    }
    const typed = readWords(name, command, [
      ...(context.flags.dryRun === true ? ["--dry-run"] : []),
      ...context.args,
    ]);
    if (typed === undefined) return;
    const code = await command.run({
      words: typed.words,
      options: typed.options,
      cwd: process.cwd(),
      json: out.json,
      print: (text) => out.line(text),
      value: (value) => out.value(value),
      call: (tool, args = {}) => session.call({ name: tool, arguments: args }, { signal }),
      signal,
    });
    if (typeof code === "number" && Number.isInteger(code)) process.exitCode = code;
  });
}

/** Undefined when the help was asked for and has been printed. */
function readWords(
  name: string,
  { description, options = {}, usage }: PluginCommand,
  words: readonly string[],
): { readonly words: readonly string[]; readonly options: Record<string, string | boolean> } | undefined {
  const reader = new Command(`hermes ${name}`)
    .description(description)
    .usage(`[options] ${usage ?? ""}`.trim())
    .argument("[words...]")
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const [flags, about] of Object.entries(options)) reader.option(flags, about);
  try {
    reader.parse([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    const message = error.message.replace(/^error: /, "").split("\n", 1)[0] ?? "";
    throw commandError("bad_request", message, `Run "hermes ${name} --help".`);
  }
  return { words: reader.args, options: reader.opts() };
}

function flagValue(argv: readonly string[], flag: string): string | undefined {
  const index = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (index === -1) return undefined;
  return argv[index]?.includes("=") ? argv[index]?.slice(flag.length + 1) : argv[index + 1];
}
