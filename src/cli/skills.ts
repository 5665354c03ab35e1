import type { CommandSpec } from "./command.js";

const SKILL = { "<name>": "as the list shows it" };
const ANYWAY = { "--anyway": "although something about it is suspicious" };

export const skills: CommandSpec = {
  about: "skills: ways of working that agents read, and drafts that wait for your yes",
  otherwise: "list",
  commands: {
    list: {
      about: "all skills, who wrote them and how often they were used",
      options: { "--category <name>": "only this one" },
      load: async () => (await import("./skills/list.js")).list,
    },
    show: {
      about: "one skill: its state, its files and its text",
      args: SKILL,
      load: async () => (await import("./skills/list.js")).show,
    },
    accept: {
      about: "use a draft from now on, or a skill as it is now and not otherwise",
      args: SKILL,
      options: ANYWAY,
      load: async () => (await import("./skills/change.js")).accept,
    },
    reject: {
      about: "delete a draft",
      args: SKILL,
      load: async () => (await import("./skills/change.js")).reject,
    },
    install: {
      about: "take in a folder with a SKILL.md that others wrote; what was looked at is what is used",
      args: { "<folder>": "the skill's folder, named as the skill is" },
      options: { "--category <name>": "where it belongs", ...ANYWAY },
      load: async () => (await import("./skills/change.js")).install,
    },
    remove: {
      about: "delete a skill with its files",
      args: SKILL,
      load: async () => (await import("./skills/change.js")).remove,
    },
  },
};
