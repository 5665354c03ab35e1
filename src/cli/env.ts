import type { CommandSpec } from "./command.js";

const NAME = { "[name]": "environment; the one in use when left out" };

export const env: CommandSpec = {
  about: "environments: where commands and file tools run",
  otherwise: "list",
  commands: {
    list: {
      about: "every environment, and whether it could be used",
      load: async () => (await import("./env/list.js")).list,
    },
    test: {
      about: "open an environment and use it the way tools do",
      args: NAME,
      load: async () => (await import("./env/test.js")).test,
    },
    explain: {
      about: "which environment a session gets and why, with every setting that shapes it",
      args: NAME,
      load: async () => (await import("./env/explain.js")).explain,
    },
  },
};
