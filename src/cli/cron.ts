import type { CommandSpec } from "./command.js";

const JOB = { "<job>": "id or name; a unique beginning of the id is enough" };

export const cron: CommandSpec = {
  about: "scheduled jobs",
  otherwise: "list",
  commands: {
    list: {
      about: "jobs, when they run next and how the last run went",
      options: { "--all": "also those that are finished" },
      load: async () => (await import("./cron/list.js")).list,
    },
    show: {
      about: "everything about one job",
      args: JOB,
      load: async () => (await import("./cron/list.js")).show,
    },
    add: {
      about: "schedule a command, a tool call or a prompt",
      args: {
        "<schedule>": "'30m', 'every 2h', '0 9 * * 1-5' or '2030-01-31T09:00'",
        "[arguments...]": "of --tool: JSON or key=value pairs",
      },
      options: {
        "--script <command>": "command line, or a file of the scripts folder of the Hermes home",
        "--tool <name>": "call this tool with the arguments",
        "--prompt <text>": "task for an agent",
        "--no-agent": "run the script without the prompt",
        "--name <name>": "what to call it",
        "--repeat <n>": "how often it runs; for ever when left out",
        "--deliver <target>": "local (a file, always), notification, or a target of send_message",
        "--skills <names>": "skills for the agent, comma separated",
        "--context-from <jobs>": "jobs whose last output the prompt is given, comma separated",
        "--time-limit <seconds>": "stop a run that takes longer; cron.time_limit_seconds when left out",
        "--workdir <folder>": "folder to run in; this one when left out",
        "--paused": "do not run it before `cron resume`",
      },
      load: async () => (await import("./cron/change.js")).add,
    },
    pause: {
      about: "no longer run a job",
      args: JOB,
      load: async () => (await import("./cron/change.js")).pause,
    },
    resume: {
      about: "run a paused job again",
      args: JOB,
      load: async () => (await import("./cron/change.js")).resume,
    },
    run: {
      about: "run a job here and now, whatever its schedule says",
      args: JOB,
      load: async () => (await import("./cron/run.js")).run,
    },
    remove: {
      about: "forget a job; what its runs have written is kept",
      args: JOB,
      load: async () => (await import("./cron/change.js")).remove,
    },
    runs: {
      about: "what became of a job's last runs",
      args: JOB,
      options: { "-n, --limit <n>": { about: "how many", default: "20" } },
      load: async () => (await import("./cron/list.js")).runs,
    },
    tick: {
      about: "run what is due now, once, without a server",
      load: async () => (await import("./cron/run.js")).tick,
    },
  },
};
