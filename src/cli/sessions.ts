import type { CommandSpec } from "./command.js";

const SESSION = { "<id>": "as the list shows it, or last" };

export const sessions: CommandSpec = {
  about: "conversations: what was said, by whom, in which words",
  otherwise: "list",
  commands: {
    list: {
      about: "conversations, the newest first",
      options: {
        "-n, --limit <n>": { about: "how many", default: "50" },
        "--source <name>": "only those that came through this door: cli, http, telegram, …",
        "--all": "also those that another conversation handed on",
      },
      load: async () => (await import("./sessions/list.js")).list,
    },
    show: {
      about: "the messages of one conversation",
      args: SESSION,
      options: { "--last <n>": "only the last ones" },
      load: async () => (await import("./sessions/show.js")).show,
    },
    search: {
      about: "messages that hold these words, the best first",
      args: { "<words...>": "as you remember them, in any script" },
      options: {
        "-n, --limit <n>": { about: "how many", default: "20" },
        "--role <role>": { about: "only what this one said", choices: ["user", "assistant", "tool"] },
      },
      load: async () => (await import("./sessions/search.js")).search,
    },
    export: {
      about: "one whole conversation on standard output",
      args: SESSION,
      options: {
        "--format <format>": {
          about: "jsonl, md or tape",
          choices: ["jsonl", "md", "tape"],
          default: "jsonl",
        },
      },
      load: async () => (await import("./sessions/export.js")).exportSession,
    },
    budget: {
      about: "what a conversation may cost; with an amount, raise it",
      args: { "<id>": "as the list shows it, last, or day for all of today", "[usd]": "US dollars" },
      load: async () => (await import("./sessions/budget.js")).budget,
    },
    delete: {
      about: "delete one conversation, with those it handed work to",
      args: SESSION,
      load: async () => (await import("./sessions/delete.js")).deleteSession,
    },
  },
};
