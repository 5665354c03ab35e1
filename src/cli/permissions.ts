import { CALL_ARGUMENTS, type CommandSpec } from "./command.js";

export const permissions: CommandSpec = {
  about: "profiles: what a session may do at all",
  otherwise: "list",
  commands: {
    list: {
      about: "every profile, where it is written, and which one is in force",
      load: async () => (await import("./permissions/profiles.js")).list,
    },
    use: {
      about: "choose the profile of new sessions",
      args: { "<profile>": "" },
      load: async () => (await import("./permissions/profiles.js")).use,
    },
    explain: {
      about: "what would be decided about a call, rule by rule, with file and line",
      args: { "<name>": "tool", "[arguments...]": CALL_ARGUMENTS },
      load: async () => (await import("./permissions/explain.js")).explain,
    },
    simulate: {
      about: "what another profile (--profile) would have done with the recorded calls",
      options: { "--days <n>": { about: "look back this far", default: "30" } },
      load: async () => (await import("./permissions/simulate.js")).simulateProfile,
    },
    propose: {
      about: "a profile that allows what the recorded calls used, and no more",
      options: {
        "--name <profile>": { about: "what it is called", default: "as_used" },
        "--days <n>": { about: "look back this far", default: "30" },
        "--write": "put it into the permissions of the Hermes home",
      },
      load: async () => (await import("./permissions/propose.js")).proposeProfile,
    },
    test: {
      about: "dry run of path rules: one JSON object per line",
      load: async () => (await import("./permissions/test.js")).test,
    },
  },
};
