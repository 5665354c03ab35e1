import { type Command, Option } from "commander";
import type { Action } from "./program.js";

/** Makes the module behind a command load when it runs. */
type Lazily = (load: () => Promise<{ readonly run: Action }>) => (...parameters: unknown[]) => Promise<void>;

export function addMcpCommands(program: Command, lazily: Lazily): void {
  const mcp = program
    .command("mcp")
    .description("MCP: servers whose tools are used here, and this one as a server");
  mcp
    .command("list", { isDefault: true })
    .description("every server: its state, its tools, and what is wrong with it")
    .action(lazily(() => import("./mcp-list.js")));
  mcp
    .command("add")
    .description("use the tools of a server: a program (after --), an address, or a JSON snippet")
    .argument("[name]", "what to call it here")
    .argument("[command...]", "after --: the program and its arguments")
    .option("--url <address>", "a server on the network")
    .addOption(
      new Option("--variable <pair>", "--env as it is spelled inside").argParser(repeated).hideHelp(),
    )
    .option("--header <pair>", "'NAME: VALUE' sent with every request; may be repeated", repeated)
    .addOption(new Option("--transport <kind>").choices(["auto", "stdio", "http", "sse"]))
    .addOption(new Option("--auth <kind>", "how to log in").choices(["none", "oauth", "client_credentials"]))
    .option("--client-id <id>", "OAuth client that was registered by hand")
    .option("--client-secret <secret>", "its secret or private key; kept in .env")
    .option("--scopes <names>", "OAuth scopes to ask for, comma separated", repeated)
    .option("--cwd <folder>", "folder the program runs in")
    .option("--include <patterns>", "only these tools, comma separated", repeated)
    .option("--exclude <patterns>", "not these tools, comma separated", repeated)
    .option("--from-json <file>", "an mcpServers snippet of another program; - for standard input")
    .option("--replace", "change a server that is there already")
    .option("--no-test", "do not connect to it now")
    .addHelpText("after", "\nFor a program, --env NAME=VALUE sets a variable it sees; may be repeated.")
    .action(lazily(() => import("./mcp-add.js")));
  mcp
    .command("remove")
    .description("forget a server, its login and what was approved of it")
    .argument("<name>")
    .action(lazily(() => import("./mcp-remove.js")));
  mcp
    .command("test")
    .description("connect to a server and list its tools")
    .argument("<name>")
    .action(lazily(() => import("./mcp-test.js")));
  mcp
    .command("login")
    .description("log in to a server (OAuth)")
    .argument("<name>")
    .option("--no-browser", "open no browser: paste the address it ends at")
    .option("--logout", "forget the login")
    .action(lazily(() => import("./mcp-login.js")));
  mcp
    .command("approve")
    .description("see and accept tools that have changed since they were first used")
    .argument("<name>")
    .argument("[tool]", "only this tool, by the server's own name")
    .action(lazily(() => import("./mcp-approve.js")));
  mcp
    .command("serve")
    .description("offer the tools to an MCP client over standard input and output")
    .action(lazily(() => import("./mcp-serve.js")));
}

function repeated(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

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
