import type { CommandSpec } from "./command.js";

export const approvals: CommandSpec = {
  about: "questions, grants, and the danger analysis",
  otherwise: "list",
  commands: {
    list: {
      about: "what waits for a person's answer",
      options: { "--all": "also what has been answered or has expired" },
      load: async () => (await import("./approvals/list.js")).list,
    },
    approve: {
      about: "say yes to one question",
      args: { "<id>": "" },
      options: {
        "--session": "for the rest of the session that asked",
        "--always": "for good: remembered in config.yaml",
        "--widen": "with --always: remember the kind of danger, not just this command",
        "--hash <hash>": "only if the question still has this hash",
        "--resume": "run the call here when the process that asked is gone",
      },
      load: async () => (await import("./approvals/answer.js")).approve,
    },
    deny: {
      about: "say no to one question",
      args: { "<id>": "", "[reason...]": "what the model is told" },
      load: async () => (await import("./approvals/answer.js")).deny,
    },
    resume: {
      about: "run an approved call whose process is gone, once",
      args: { "<id>": "" },
      load: async () => (await import("./approvals/answer.js")).resume,
    },
    grants: {
      about: "what was approved for good",
      load: async () => (await import("./approvals/grants.js")).grants,
    },
    revoke: {
      about: "take a permanent grant back",
      args: { "<id>": "" },
      load: async () => (await import("./approvals/grants.js")).revoke,
    },
    test: {
      about: "dry run of the danger analysis: one command, or one JSON object per line",
      args: { "[command...]": 'a command; lines of {"cmd": …} on standard input when left out' },
      load: async () => (await import("./approvals/test.js")).test,
    },
  },
};
