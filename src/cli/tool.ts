import type { CommandSpec } from "./command.js";
import { tools } from "./tools.js";

export const tool: CommandSpec = {
  about: "register tools from files",
  commands: {
    register: {
      about: "check a file of YAML tools and put it into the tool folder",
      options: {
        "--config <file>": { about: "YAML file with a list of tools", required: true },
        "--name <name>": "file name in the tool folder; as the file is called when left out",
        "--force": "replace a different file of that name",
        "--dry-run": "only check it, change nothing",
      },
      load: async () => (await import("./tool/register.js")).register,
    },
    unregister: {
      about: "take a file of YAML tools out of the tool folder",
      args: { "<file>": "file name, or the name of a tool it brings" },
      options: { "--dry-run": "only show what would leave" },
      load: async () => (await import("./tool/register.js")).unregister,
    },
  },
};

/** `hermes tool list` means `hermes tools list`: the two nouns share no command. */
export function pluralOf(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("tool");
  const next = argv[at + 1];
  if (at === -1 || argv.slice(0, at).some((word) => !word.startsWith("-"))) return argv;
  if (next !== undefined && !Object.hasOwn(tools.commands ?? {}, next)) return argv;
  return argv.with(at, "tools");
}
