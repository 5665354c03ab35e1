import type { CommandSpec } from "./command.js";

export const config: CommandSpec = {
  about: "read and change the configuration",
  otherwise: "get",
  commands: {
    list: {
      about: "all of them",
      options: { "--show-origin": "where each value comes from" },
      load: async () => (await import("./config/values.js")).get,
    },
    get: {
      about: "a value, or all of them",
      args: { "[key]": "" },
      options: { "--show-origin": "where each value comes from" },
      load: async () => (await import("./config/values.js")).get,
    },
    set: {
      about: "change a value, comments are kept",
      args: { "<key>": "", "<value>": "" },
      load: async () => (await import("./config/values.js")).set,
    },
    path: {
      about: "where the files are",
      load: async () => (await import("./config/values.js")).path,
    },
    check: {
      about: "problems, with file and line",
      load: async () => (await import("./config/check.js")).check,
    },
    trust: {
      about: "let this folder's own settings and tools count",
      args: { "[folder]": "" },
      load: async () => (await import("./config/values.js")).trust,
    },
    untrust: {
      about: "no longer trust a folder",
      args: { "[folder]": "" },
      load: async () => (await import("./config/values.js")).untrust,
    },
  },
};
