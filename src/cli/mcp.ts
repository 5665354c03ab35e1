import type { CommandSpec } from "./command.js";

export const mcp: CommandSpec = {
  about: "MCP: servers whose tools are used here, and this one as a server",
  otherwise: "list",
  commands: {
    list: {
      about: "every server: its state, its tools, and what is wrong with it",
      load: async () => (await import("./mcp/list.js")).list,
    },
    add: {
      about: "use the tools of a server: a program (after --), an address, or a JSON snippet",
      args: {
        "[name]": "what to call it here",
        "[command...]": "after --: the program and its arguments",
      },
      options: {
        "--url <address>": "a server on the network",
        "--variable <pair>": { about: "--env as it is spelled inside", repeats: true, hidden: true },
        "--header <pair>": {
          about: "'NAME: VALUE' sent with every request; may be repeated",
          repeats: true,
        },
        "--transport <kind>": { choices: ["auto", "stdio", "http", "sse"] },
        "--auth <kind>": { about: "how to log in", choices: ["none", "oauth", "client_credentials"] },
        "--client-id <id>": "OAuth client that was registered by hand",
        "--client-secret <secret>": "its secret or private key; kept in .env",
        "--scopes <names>": { about: "OAuth scopes to ask for, comma separated", repeats: true },
        "--cwd <folder>": "folder the program runs in",
        "--include <patterns>": { about: "only these tools, comma separated", repeats: true },
        "--exclude <patterns>": { about: "not these tools, comma separated", repeats: true },
        "--from-json <file>": "an mcpServers snippet of another program; - for standard input",
        "--replace": "change a server that is there already",
        "--no-test": "do not connect to it now",
      },
      helpEnd: "For a program, --env NAME=VALUE sets a variable it sees; may be repeated.",
      load: async () => (await import("./mcp/add.js")).add,
    },
    remove: {
      about: "forget a server, its login and what was approved of it",
      args: { "<name>": "" },
      load: async () => (await import("./mcp/remove.js")).remove,
    },
    test: {
      about: "connect to a server and list its tools",
      args: { "<name>": "" },
      load: async () => (await import("./mcp/list.js")).test,
    },
    login: {
      about: "log in to a server (OAuth)",
      args: { "<name>": "" },
      options: {
        "--no-browser": "open no browser: paste the address it ends at",
        "--logout": "forget the login",
      },
      load: async () => (await import("./mcp/login.js")).logIn,
    },
    approve: {
      about: "see and accept tools that have changed since they were first used",
      args: { "<name>": "", "[tool]": "only this tool, by the server's own name" },
      load: async () => (await import("./mcp/approve.js")).approve,
    },
    install: {
      about: "put this program into the settings of an MCP client: claude, cursor, vscode or zed",
      args: { "<client>": "claude, cursor, vscode or zed" },
      options: {
        "--name <name>": { about: "what the client calls it", default: "hermes" },
        "--project": "for this folder alone, instead of for you",
        "--dry-run": "only show what would be written, and where",
      },
      load: async () => (await import("./mcp/install.js")).install,
    },
    serve: {
      about: "offer the tools to an MCP client over standard input and output",
      load: async () => (await import("./mcp/serve.js")).serve,
    },
  },
};

/** `--env` chooses an environment everywhere; only where a server is added, `--env NAME=VALUE` is a variable. */
export function variablesOfServers(argv: readonly string[]): readonly string[] {
  const [group, command] = argv.filter((word) => !word.startsWith("-"));
  if (group !== "mcp" || command !== "add") return argv;
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    if (end !== -1 && index > end) return word;
    if (word === "--env" && argv[index + 1]?.includes("=")) return "--variable";
    return word.replace(/^--env=(?=[^=]+=)/, "--variable=");
  });
}
