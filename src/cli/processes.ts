import type { CommandSpec } from "./command.js";

export const ps: CommandSpec = {
  about: "background processes of every runtime of this home",
  options: { "--all": "also those that have ended in the last 7 days" },
  load: async () => (await import("./processes/ps.js")).ps,
};

export const logs: CommandSpec = {
  about: "the end of a background process's output",
  args: { "<id>": "as ps shows it; a unique beginning is enough" },
  options: {
    "-n, --lines <n>": { about: "how many lines", default: "200" },
    "-f, --follow": "go on until it ends",
  },
  load: async () => (await import("./processes/logs.js")).logs,
};

export const kill: CommandSpec = {
  about: "end background processes and everything they started",
  args: { "<ids...>": "as ps shows them; a unique beginning is enough" },
  load: async () => (await import("./processes/kill.js")).kill,
};
