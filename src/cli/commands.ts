import { approvals } from "./approvals.js";
import { cluster, IN_CLUSTER, worker } from "./cluster.js";
import { CALL_ARGUMENTS, type CommandSpec, DRY_RUN } from "./command.js";
import { config } from "./config.js";
import { cron } from "./cron.js";
import { env } from "./env.js";
import { gateway } from "./gateway.js";
import { mcp } from "./mcp.js";
import { permissions } from "./permissions.js";
import { plugins } from "./plugins.js";
import { kill, logs, ps } from "./processes.js";
import { sessions } from "./sessions.js";
import { skills } from "./skills.js";
import { tool } from "./tool.js";
import { tools, toolsets } from "./tools.js";

/** The headings of the help, what stands below them, and two lines to try. */
export const GROUPS: Readonly<
  Record<string, { readonly commands: readonly string[]; readonly examples: readonly [string, string] }>
> = {
  "Calling tools:": {
    commands: ["chat", "call", "run", "calls", "stats", "replay", "undo"],
    examples: ["hermes call system_info", "hermes calls show 12"],
  },
  "Tools and where they come from:": {
    commands: ["tools", "tool", "toolsets", "mcp", "plugins", "setup"],
    examples: [
      "hermes tools new my_tool",
      "hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
    ],
  },
  "Conversations:": {
    commands: ["sessions", "skills", "gateway"],
    examples: ["hermes sessions search database migration", "hermes skills"],
  },
  "What may happen:": {
    commands: ["approvals", "changes", "permissions", "net"],
    examples: ["hermes approvals test 'rm -rf build'", "hermes permissions explain terminal command=ls"],
  },
  "Running and background:": {
    commands: ["serve", "worker", "cluster", "acp", "status", "open", "ps", "logs", "kill", "cron"],
    examples: ["hermes serve --port 0", "hermes cron add 'every 2h' --tool system_info"],
  },
  "Set-up:": {
    commands: ["doctor", "config", "env", "backup", "restore", "migrate", "completion"],
    examples: ["hermes doctor", "hermes config set approvals.timeout 120"],
  },
};

/**
 * Every command, in the order of the help. A noun with commands of its own is declared in the file of its name, and
 * the code of its commands lies in the folder beside it.
 */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  call: {
    about: "one call through the whole path",
    takesAnyOption: true,
    helpEnd: `Examples:
  hermes call read_file path=README.md limit=5
  hermes call terminal --command 'ls | head' --json`,
    args: { "<name>": "tool", "[arguments...]": CALL_ARGUMENTS },
    options: {
      "--exit-code": "end with the exit code of the program that the call ran",
      ...DRY_RUN,
      ...IN_CLUSTER,
    },
    load: async () => (await import("./call.js")).call,
  },
  chat: {
    about: "talk to the agent: a model with these tools",
    helpEnd: `Examples:
  hermes chat
  hermes chat -q "which tests fail, and why?"
  hermes chat --resume last -q "now mend them" --json`,
    options: {
      "-q, --query <text>": "one question; the answer is printed, nothing else",
      "--resume <id>": "go on with a conversation (last: the newest); a turn that was cut off is finished",
      "--plan": "read only",
      "--max-turns <n>": "how often the model is asked at most",
      "--model <name>": "[PROVIDER:]NAME, for this time",
      ...IN_CLUSTER,
    },
    load: async () => (await import("./chat/chat.js")).chat,
  },
  acp: {
    about: "the agent for editors (Agent Client Protocol) on standard input and output",
    helpEnd: "How to add it to Zed and JetBrains: docs/editors.md",
    options: { "--check": "only say whether a model is there, and which" },
    load: async () => (await import("./acp.js")).acp,
  },
  run: {
    about: "run the tool calls of a message (file or standard input) and print the results in its format",
    args: { "[file]": "JSON file; standard input when left out" },
    options: { ...DRY_RUN, ...IN_CLUSTER },
    load: async () => (await import("./run.js")).run,
  },
  replay: {
    about: "what today's tools and rules make of a recorded session; nothing runs, 3 when something differs",
    helpEnd: `Examples:
  hermes replay 20261118-074825-3f2a
  hermes sessions export 20261118-074825-3f2a --format tape > story.jsonl && hermes replay story.jsonl --json`,
    args: { "<session>": "a conversation, a session of the journal, or the file of a tape" },
    load: async () => (await import("./replay/replay.js")).replay,
  },
  tools,
  tool,
  setup: {
    about: "fetch and check what is not part of the package",
    commands: {
      tools: {
        about: "the libraries that only some tools need, into the Hermes home",
        options: { "--check": "only say what is there and what is missing" },
        load: async () => (await import("./setup/tools.js")).setupTools,
      },
      browser: {
        about: "a browser for the browser tools: the one of this machine, else one into the Hermes home",
        options: { "--check": "only say what is there and what is missing" },
        load: async () => (await import("./setup/browser.js")).setupBrowser,
      },
      search: {
        about: "the model that finds tools by meaning",
        options: { "--check": "only say whether it is there and whole" },
        load: async () => (await import("./setup/search.js")).setupSearch,
      },
      speech: {
        about: "the models that speak and listen offline",
        options: { "--check": "only say what is there and what is missing" },
        load: async () => (await import("./setup/speech.js")).setupSpeech,
      },
      model: {
        about: "the model that the agent asks: tested with one request, its key kept in .env",
        options: {
          "--check": "only say which one it is, or that there is none",
          "--provider <name>": "whose model; asks nothing then",
          "--name <model>": "name of the model; for gguf a file",
          "--base-url <url>": "address of its server",
          "--key-stdin": "take the key from standard input",
        },
        load: async () => (await import("./setup/model.js")).setupModel,
      },
    },
  },
  toolsets,
  approvals,
  ps,
  logs,
  undo: {
    about: "take back what calls did to files; lists the changes when nothing is named",
    args: { "[call]": "id of a call, or number of a change as the list shows it" },
    options: {
      "--since <time>": "everything since: 10m, 2h, or a time",
      "--session <id>": "only of this session",
      "--all": "list also what was undone",
      "--dry-run": "only show what would be taken back",
    },
    load: async () => (await import("./undo.js")).undo,
  },
  kill,
  cron,
  doctor: {
    about: "what works, what does not, and how to mend it",
    options: { "--fix": "mend what can be mended; installs the libraries of tools that lack one" },
    load: async () => (await import("./doctor.js")).doctor,
  },
  migrate: {
    about: "bring over settings, secrets, conversations, memory, skills and jobs of Hermes Agent (Python)",
    helpEnd: `Examples:
  hermes migrate --from ~/.hermes-agent --dry-run
  hermes migrate --from ~/.hermes-agent --json`,
    options: {
      "--from <folder>": { about: "its home; nothing there is changed", required: true },
      "--dry-run": "only show what would be brought over",
    },
    load: async () => (await import("./migrate/migrate.js")).migrate,
  },
  changes: {
    about: "settings and tools that have changed while a server runs and wait for your yes",
    otherwise: "list",
    commands: {
      list: { about: "what waits", load: async () => (await import("./changes/answer.js")).list },
      accept: {
        about: "say yes to all of it",
        load: async () => (await import("./changes/answer.js")).accept,
      },
    },
  },
  config,
  permissions,
  env,
  plugins,
  net: {
    about: "what network tools may reach",
    commands: {
      test: {
        about: "dry run of the URL guard: one JSON object per line, nothing is dialled",
        load: async () => (await import("./net-test.js")).netTest,
      },
    },
  },
  mcp,
  sessions,
  gateway,
  skills,
  stats: {
    about: "calls, errors, times and cost, per tool or whatever else",
    otherwise: "show",
    commands: {
      show: {
        about: "calls, errors, times and cost, per tool or whatever else",
        options: {
          "--days <n>": { about: "look back this far", default: "30" },
          "--since <time>": "look back to then: 15m, 1h, 7d, or a date",
          "--by <what>": "group by tool, toolset, model, environment, session or door",
          "--tool <name>": "only calls of this tool",
          "--toolset <name>": "only calls of tools of this toolset",
          "--model <name>": "only calls this model made",
          "--environment <name>": "only calls that ran there",
          "--session <id>": "only calls of this session",
          "--door <name>": "only calls that came this way: cli, http, mcp, cron, …",
        },
        load: async () => (await import("./stats.js")).stats,
      },
      scorecard: {
        about: "how each model gets along with each tool, and what a better description could prevent",
        options: {
          "--days <n>": { about: "look back this far", default: "30" },
          "--tool <name>": "only this one",
        },
        load: async () => (await import("./stats/scorecard.js")).scorecard,
      },
    },
  },
  backup: {
    about: "settings, tools, skills, memory, conversations and jobs in one file; servers may run meanwhile",
    args: { "<file>": "to be made, e.g. hermes.tgz" },
    options: { "--secrets": "also .env, tokens and keys" },
    load: async () => (await import("./backup/backup.js")).backup,
  },
  restore: {
    about: "put a backup in the place of the home; what was there is kept",
    args: { "<file>": "as `hermes backup` made it" },
    options: { "--dry-run": "only show what would be replaced, added and removed" },
    load: async () => (await import("./backup/restore.js")).restore,
  },
  completion: {
    about: "shell completion script",
    helpEnd: `Examples:
  source <(hermes completion bash)                                     in ~/.bashrc; zsh likewise
  hermes completion fish > ~/.config/fish/completions/hermes.fish`,
    args: { "<shell>": "bash, zsh, fish or powershell" },
    load: async () => (await import("./completion.js")).completion,
  },
  calls: {
    about: "what was called, when, and how it ended",
    otherwise: "list",
    commands: {
      list: {
        about: "the last calls of every process of this home",
        options: {
          "-n, --limit <n>": { about: "how many", default: "20" },
          "--tool <name>": "only of this tool",
        },
        load: async () => (await import("./calls.js")).list,
      },
      show: {
        about: "everything that was written down of one call",
        args: { "<id>": "as the list shows it" },
        load: async () => (await import("./calls.js")).show,
      },
    },
  },
  status: {
    about: "whether a server of this home runs, and where",
    load: async () => (await import("./status.js")).status,
  },
  open: {
    about: "the page of the running server, in your browser",
    options: { "--no-browser": "only print the address" },
    load: async () => (await import("./status.js")).open,
  },
  serve: {
    about: "HTTP API and page on 127.0.0.1:9119",
    options: {
      "--host <address>": "address to listen on",
      "--port <port>": "port; 0 picks a free one",
      ...IN_CLUSTER,
    },
    load: async () => (await import("./serve.js")).serve,
  },
  worker,
  cluster,
};
