import { type Command, Option } from "commander";
import { type CommandSpec, firstWord, runner } from "./command.js";

export const plugins: CommandSpec = {
  about: "code of others that brings tools, hooks and more",
  otherwise: "list",
  commands: {
    list: {
      about: "every plugin, whether it runs, and what it brings",
      load: async () => (await import("./plugins/list.js")).list,
    },
    info: {
      about: "what a plugin says about itself, and its files",
      args: { "<name>": "" },
      load: async () => (await import("./plugins/info.js")).info,
    },
    enable: {
      about: "let a plugin run, with its files as they are now",
      args: { "<name>": "" },
      options: { "--dev": "trust later changes of its folder as well" },
      load: async () => (await import("./plugins/enable.js")).enable,
    },
    disable: {
      about: "no longer run a plugin",
      args: { "<name>": "" },
      load: async () => (await import("./plugins/enable.js")).disable,
    },
    install: {
      about: "get a plugin from npm, a folder or a tarball, without running it",
      args: { "<spec>": "npm name with or without @version, folder, or .tgz" },
      load: async () => (await import("./plugins/install.js")).install,
    },
    new: {
      about: "a small plugin that works, to begin with",
      args: { "<name>": "" },
      options: {
        "--dir <folder>": "where to make its folder; among the plugins of the Hermes home when left out",
      },
      load: async () => (await import("./plugins/install.js")).create,
    },
  },
};

/** A first word that no command has may be one of a plugin. Only then are manifests read. */
export async function addPluginCommand(program: Command, argv: readonly string[]): Promise<void> {
  const word = firstWord(program, argv);
  if (word === undefined || word === "help" || program.commands.some((one) => one.name() === word)) return;
  const { pluginWithCommand, runPluginCommand } = await import("./plugins/command.js");
  const plugin = await pluginWithCommand(word, argv);
  if (plugin === undefined) return;
  program
    .command(word)
    .description(`a command of the plugin ${plugin}`)
    .argument("[words...]")
    .allowUnknownOption()
    // Whether it knows it is known when it has been loaded.
    .addOption(new Option("--dry-run").hideHelp())
    .helpOption(false)
    .action(runner(async () => (context) => runPluginCommand(context, { name: word, plugin })));
}
