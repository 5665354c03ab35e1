import type { CommandSpec } from "./command.js";

export const tool: CommandSpec = {
  about: "register tools from files",
  commands: {
    register: {
      about: "check a file of YAML tools and put it into the tool folder",
      options: {
        "--config <file>": { about: "YAML file with a list of tools", required: true },
        "--name <name>": "file name in the tool folder; as the file is called when left out",
        "--force": "replace a different file of that name",
      },
      load: async () => (await import("./tool/register.js")).register,
    },
    unregister: {
      about: "take a file of YAML tools out of the tool folder",
      args: { "<file>": "file name, or the name of a tool it brings" },
      load: async () => (await import("./tool/register.js")).unregister,
    },
  },
};
