import type { Command } from "commander";
import type { Lazily } from "./program.js";

/** `hermes plugins …`. */
export function addPluginsGroup(program: Command, lazily: Lazily): void {
  const plugins = program.command("plugins").description("code of others that brings tools, hooks and more");
  plugins
    .command("list", { isDefault: true })
    .description("every plugin, whether it runs, and what it brings")
    .action(lazily(() => import("./plugins-list.js")));
  plugins
    .command("info")
    .description("what a plugin says about itself, and its files")
    .argument("<name>")
    .action(lazily(() => import("./plugins-info.js")));
  plugins
    .command("enable")
    .description("let a plugin run, with its files as they are now")
    .argument("<name>")
    .option("--dev", "trust later changes of its folder as well")
    .action(lazily(() => import("./plugins-enable.js")));
  plugins
    .command("disable")
    .description("no longer run a plugin")
    .argument("<name>")
    .action(lazily(() => import("./plugins-disable.js")));
  plugins
    .command("install")
    .description("get a plugin from npm, a folder or a tarball, without running it")
    .argument("<spec>", "npm name with or without @version, folder, or .tgz")
    .action(lazily(() => import("./plugins-install.js")));
  plugins
    .command("new")
    .description("a small plugin that works, to begin with")
    .argument("<name>")
    .option("--dir <folder>", "where to make its folder; among the plugins of the Hermes home when left out")
    .action(lazily(() => import("./plugins-new.js")));
}

/** A first word that no command has may be one of a plugin. Only then are manifests read. */
export async function addPluginCommand(given: {
  readonly program: Command;
  readonly argv: readonly string[];
  readonly lazily: Lazily;
}): Promise<void> {
  const { program, argv, lazily } = given;
  const word = firstWord(program, argv);
  if (word === undefined || word === "help" || program.commands.some((one) => one.name() === word)) return;
  const { pluginWithCommand, runPluginCommand } = await import("./plugin-command.js");
  const plugin = await pluginWithCommand(word, argv);
  if (plugin === undefined) return;
  program
    .command(word)
    .description(`a command of the plugin ${plugin}`)
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .action(
      lazily(async () => ({
        run: (context, words) => runPluginCommand(context, { name: word, plugin, words }),
      })),
    );
}

/** The command, behind the flags that may stand before it. */
function firstWord(program: Command, argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (!word.startsWith("-")) return word;
    const option = program.options.find((one) => one.long === word || one.short === word);
    if (option?.required === true) index += 1;
  }
  return undefined;
}
