import { Command, CommanderError, Option } from "commander";
import type { Failure } from "../tool/errors.js";
import { VERSION } from "../version.js";
import { EXIT } from "./exit-codes.js";
import { type CommandContext, contextOf } from "./globals.js";
import { addMcpCommands, variablesOfServers } from "./mcp-commands.js";
import { Output } from "./output.js";
import { addPluginCommand, addPluginsGroup } from "./plugins-group.js";

export type Action = (
  context: CommandContext,
  args: readonly string[],
  options: Readonly<Record<string, unknown>>,
) => Promise<void>;

export type Lazily = typeof lazily;

/** The module behind a command is imported when it runs. */
function lazily(load: () => Promise<{ readonly run: Action }>) {
  return async (...parameters: unknown[]): Promise<void> => {
    const command = parameters.at(-1) as Command;
    const out = new Output(command.optsWithGlobals());
    try {
      const extra = extraWord(command);
      if (extra !== undefined) throw (await import("./unexpected-word.js")).unexpectedWord(command, extra);
      const context = contextOf(command, out);
      const { run } = await load();
      await run(context, wordsOf(command), command.opts());
    } catch (thrown) {
      if (thrown instanceof CommanderError) throw thrown;
      out.failWith(thrown);
    }
  };
}

function wordsOf(command: Command): readonly string[] {
  return command.processedArgs.flat(1).filter((arg) => arg !== undefined) as string[];
}

/** The first word that no argument takes. */
function extraWord(command: Command): string | undefined {
  const { registeredArguments } = command;
  return registeredArguments.at(-1)?.variadic === true ? undefined : command.args[registeredArguments.length];
}

/** `completion` false leaves that command to the completion library, which brings its own. */
export function buildProgram({ completion }: { readonly completion: boolean }): Command {
  const program = new Command("hermes")
    .description("Tools runtime for AI agents")
    .version(VERSION, "-V, --version")
    .option("--json", "one JSON value on stdout, errors as one JSON line on stderr")
    .option("--jsonl", "one JSON value per line")
    .option("-q, --quiet", "results only")
    .option("-v, --verbose", "say more")
    .option("--profile <name>", "permission profile")
    .option("-t, --toolsets <names>", "toolsets, comma separated")
    .option("--env <name>", "environment that runs the tools")
    .option("--timeout <seconds>", "longest time for one call")
    .option("--yolo", "answer every question with yes (what is never allowed stays refused)")
    .option("--yes", "answer confirmations of this command with yes")
    .option("--dry-run", "decide, but run nothing")
    .option("--no-color", "no colours")
    .addOption(new Option("--ascii", "no emoji or special signs").hideHelp())
    .option("--home <dir>", "Hermes home (HERMES_HOME)")
    .showSuggestionAfterError()
    .enablePositionalOptions(false)
    .helpCommand(true)
    .exitOverride()
    // Words too many are reported by `lazily`, which can say what was meant.
    .allowExcessArguments()
    .action(lazily(() => import("./banner.js")));

  program
    .command("call")
    .description("one call through the whole path")
    .argument("<name>", "tool")
    .argument("[arguments...]", "JSON, key=value pairs, or - for standard input")
    .action(lazily(() => import("./call.js")));
  program
    .command("run")
    .description(
      "run the tool calls of a message (file or standard input) and print the results in its format",
    )
    .argument("[file]", "JSON file; standard input when left out")
    .action(lazily(() => import("./run.js")));

  const tools = program.command("tools").description("see, measure and test tools");
  tools
    .command("list", { isDefault: true })
    .description("every tool and whether it is ready")
    .option("--all", "also tools that are switched off")
    .action(lazily(() => import("./tools-list.js")));
  tools
    .command("info")
    .description("everything about one tool")
    .argument("<name>")
    .action(lazily(() => import("./tools-info.js")));
  tools
    .command("schema")
    .description("what a model is told")
    .argument("[names...]", "only these tools")
    .addOption(
      new Option("--format <format>")
        .choices(["openai", "anthropic", "gemini", "mcp", "responses"])
        .default("openai"),
    )
    .action(lazily(() => import("./tools-schema.js")));
  tools
    .command("explain")
    .description("why a tool is offered or not")
    .argument("[name]")
    .action(lazily(() => import("./tools-explain.js")));
  tools
    .command("size")
    .description("tokens that the definitions cost, per toolset, with and without Tool Search")
    .action(lazily(() => import("./tools-size.js")));
  tools
    .command("search")
    .description("find tools by what they do")
    .argument("<words...>", "what the tool should do, or words of its name")
    .option("--limit <n>", "how many", "10")
    .action(lazily(() => import("./tools-search.js")));
  tools
    .command("search-eval")
    .description("measure how well requests find their tools")
    .requiredOption("--tools <file>", "JSON lines of { name, description, parameters }")
    .requiredOption("--queries <file>", "JSON lines of { query, relevant: [names] }")
    .option("--k <numbers>", "how many answers are looked at", "1,5,10")
    .option("--lexical", "words only, without the model")
    .action(lazily(() => import("./tools-search-eval.js")));
  tools
    .command("decode")
    .description("decode requests against given tools, running nothing")
    .requiredOption("--tools <file>", "JSON array of { name, parameters }")
    .action(lazily(() => import("./tools-decode.js")));
  tools
    .command("sanitize")
    .description("what a model would see of an error")
    .action(lazily(() => import("./tools-sanitize.js")));
  tools
    .command("check")
    .description("try to break a tool: bad arguments, aborts, timeouts, concurrency")
    .argument("<target>", "tool name, or a file that defines tools")
    .option("--runs <n>", "tries per kind", "25")
    .option("--seed <n>", "repeat an earlier run")
    .action(lazily(() => import("./tools-check.js")));
  tools
    .command("enable")
    .description("switch a tool on")
    .argument("<name>")
    .action(lazily(() => import("./tools-enable.js")));
  tools
    .command("disable")
    .description("switch a tool off")
    .argument("<name>")
    .action(lazily(() => import("./tools-disable.js")));
  tools
    .command("import")
    .description("make tools from the description of a service")
    .command("openapi")
    .description("one tool per operation of an OpenAPI (3.0, 3.1) or Swagger 2.0 document")
    .argument("<document>", "file or URL, JSON or YAML")
    .option("--prefix <name>", "first part of the tools' names; from the title when left out")
    .option("--include <glob...>", "only operations whose name or METHOD /path matches")
    .option("--exclude <glob...>", "without operations whose name or METHOD /path matches")
    .option("--tag <tags...>", "only operations with one of these tags")
    .option("--base-url <url>", "address of the service, instead of the document's own")
    .option("--auth <how...>", "bearer:VAR, basic:USER_VAR:PASSWORD_VAR, header:NAME:VAR or query:NAME:VAR")
    .option("--force", "replace an earlier import that is different")
    .action(lazily(() => import("./tools-import-openapi.js")));

  const tool = program.command("tool").description("register tools from files");
  tool
    .command("register")
    .description("check a file of YAML tools and put it into the tool folder")
    .requiredOption("--config <file>", "YAML file with a list of tools")
    .option("--name <name>", "file name in the tool folder; as the file is called when left out")
    .option("--force", "replace a different file of that name")
    .action(lazily(() => import("./tool-register.js")));
  tool
    .command("unregister")
    .description("take a file of YAML tools out of the tool folder")
    .argument("<file>", "file name, or the name of a tool it brings")
    .action(lazily(() => import("./tool-unregister.js")));

  const setup = program.command("setup").description("fetch and check what is not part of the package");
  setup
    .command("search")
    .description("the model that finds tools by meaning")
    .option("--check", "only say whether it is there and whole")
    .action(lazily(() => import("./setup-search.js")));

  program
    .command("toolsets")
    .description("toolsets, composites and presets, resolved")
    .argument("[name]")
    .action(lazily(() => import("./toolsets.js")));
  const approvals = program.command("approvals").description("questions, grants, and the danger analysis");
  approvals
    .command("list", { isDefault: true })
    .description("what waits for a person's answer")
    .option("--all", "also what has been answered or has expired")
    .action(lazily(() => import("./approvals-list.js")));
  approvals
    .command("approve")
    .description("say yes to one question")
    .argument("<id>")
    .option("--session", "for the rest of the session that asked")
    .option("--always", "for good: remembered in config.yaml")
    .option("--widen", "with --always: remember the kind of danger, not just this command")
    .option("--hash <hash>", "only if the question still has this hash")
    .option("--resume", "run the call here when the process that asked is gone")
    .action(lazily(() => import("./approvals-approve.js")));
  approvals
    .command("deny")
    .description("say no to one question")
    .argument("<id>")
    .argument("[reason...]", "what the model is told")
    .action(lazily(() => import("./approvals-deny.js")));
  approvals
    .command("resume")
    .description("run an approved call whose process is gone, once")
    .argument("<id>")
    .action(lazily(() => import("./approvals-resume.js")));
  approvals
    .command("grants")
    .description("what was approved for good")
    .action(lazily(() => import("./approvals-grants.js")));
  approvals
    .command("revoke")
    .description("take a permanent grant back")
    .argument("<id>")
    .action(lazily(() => import("./approvals-revoke.js")));
  approvals
    .command("test")
    .description("dry run of the danger analysis: one command, or one JSON object per line")
    .argument("[command...]", 'a command; lines of {"cmd": …} on standard input when left out')
    .action(lazily(() => import("./approvals-test.js")));

  program
    .command("ps")
    .description("background processes of every runtime of this home")
    .option("--all", "also those that have ended in the last 7 days")
    .action(lazily(() => import("./ps.js")));
  program
    .command("logs")
    .description("the end of a background process's output")
    .argument("<id>", "as ps shows it; a unique beginning is enough")
    .option("-n, --lines <n>", "how many lines", "200")
    .option("-f, --follow", "go on until it ends")
    .action(lazily(() => import("./logs.js")));
  program
    .command("undo")
    .description("take back what calls did to files; lists the changes when nothing is named")
    .argument("[call]", "id of a call, or number of a change as the list shows it")
    .option("--since <time>", "everything since: 10m, 2h, or a time")
    .option("--session <id>", "only of this session")
    .option("--all", "list also what was undone")
    .action(lazily(() => import("./undo.js")));
  program
    .command("kill")
    .description("end background processes and everything they started")
    .argument("<ids...>", "as ps shows them; a unique beginning is enough")
    .action(lazily(() => import("./kill.js")));

  const cron = program.command("cron").description("scheduled jobs");
  cron
    .command("list", { isDefault: true })
    .description("jobs, when they run next and how the last run went")
    .option("--all", "also those that are finished")
    .action(lazily(() => import("./cron-list.js")));
  cron
    .command("show")
    .description("everything about one job")
    .argument("<job>", "id or name; a unique beginning of the id is enough")
    .action(lazily(() => import("./cron-show.js")));
  cron
    .command("add")
    .description("schedule a command, a tool call or a prompt")
    .argument("<schedule>", "'30m', 'every 2h', '0 9 * * 1-5' or '2030-01-31T09:00'")
    .argument("[arguments...]", "of --tool: JSON or key=value pairs")
    .option("--script <command>", "command line, or a file of the scripts folder of the Hermes home")
    .option("--tool <name>", "call this tool with the arguments")
    .option("--prompt <text>", "task for an agent")
    .option("--no-agent", "run the script without the prompt")
    .option("--name <name>", "what to call it")
    .option("--repeat <n>", "how often it runs; for ever when left out")
    .option("--deliver <target>", "local (a file, always) or notification")
    .option("--skills <names>", "skills for the agent, comma separated")
    .option("--context-from <jobs>", "jobs whose last output the prompt is given, comma separated")
    .option("--workdir <folder>", "folder to run in; this one when left out")
    .option("--paused", "do not run it before `cron resume`")
    .action(lazily(() => import("./cron-add.js")));
  for (const [name, about, load] of [
    ["pause", "no longer run a job", () => import("./cron-pause.js")],
    ["resume", "run a paused job again", () => import("./cron-resume.js")],
    ["run", "run a job here and now, whatever its schedule says", () => import("./cron-run.js")],
    ["remove", "forget a job; what its runs have written is kept", () => import("./cron-remove.js")],
  ] as const) {
    cron
      .command(name)
      .description(about)
      .argument("<job>", "id or name; a unique beginning of the id is enough")
      .action(lazily(load));
  }
  cron
    .command("runs")
    .description("what became of a job's last runs")
    .argument("<job>", "id or name; a unique beginning of the id is enough")
    .option("-n, --limit <n>", "how many", "20")
    .action(lazily(() => import("./cron-runs.js")));
  cron
    .command("tick")
    .description("run what is due now, once, without a server")
    .action(lazily(() => import("./cron-tick.js")));

  program
    .command("doctor")
    .description("what works, what does not, and how to mend it")
    .option("--fix", "mend what can be mended")
    .action(lazily(() => import("./doctor.js")));

  const config = program.command("config").description("read and change the configuration");
  config
    .command("get", { isDefault: true })
    .description("a value, or all of them")
    .argument("[key]")
    .option("--show-origin", "where each value comes from")
    .action(lazily(() => import("./config-get.js")));
  config
    .command("set")
    .description("change a value, comments are kept")
    .argument("<key>")
    .argument("<value>")
    .action(lazily(() => import("./config-set.js")));
  config
    .command("path")
    .description("where the files are")
    .action(lazily(() => import("./config-path.js")));
  config
    .command("check")
    .description("problems, with file and line")
    .action(lazily(() => import("./config-check.js")));
  config
    .command("trust")
    .description("let this folder's own settings and tools count")
    .argument("[folder]")
    .action(lazily(() => import("./config-trust.js")));
  config
    .command("untrust")
    .description("no longer trust a folder")
    .argument("[folder]")
    .action(lazily(() => import("./config-untrust.js")));

  const permissions = program.command("permissions").description("profiles: what a session may do at all");
  permissions
    .command("list", { isDefault: true })
    .description("every profile, where it is written, and which one is in force")
    .action(lazily(() => import("./permissions-list.js")));
  permissions
    .command("use")
    .description("choose the profile of new sessions")
    .argument("<profile>")
    .action(lazily(() => import("./permissions-use.js")));
  permissions
    .command("explain")
    .description("what would be decided about a call, rule by rule, with file and line")
    .argument("<name>", "tool")
    .argument("[arguments...]", "JSON, key=value pairs, or - for standard input")
    .action(lazily(() => import("./permissions-explain.js")));
  permissions
    .command("simulate")
    .description("what another profile (--profile) would have done with the recorded calls")
    .option("--days <n>", "look back this far", "30")
    .action(lazily(() => import("./permissions-simulate.js")));
  permissions
    .command("test")
    .description("dry run of path rules: one JSON object per line")
    .action(lazily(() => import("./permissions-test.js")));

  const environments = program.command("env").description("environments: where commands and file tools run");
  environments
    .command("list", { isDefault: true })
    .description("every environment, and whether it could be used")
    .action(lazily(() => import("./env-list.js")));
  environments
    .command("test")
    .description("open an environment and use it the way tools do")
    .argument("[name]", "environment; the one in use when left out")
    .action(lazily(() => import("./env-test.js")));
  environments
    .command("explain")
    .description("which environment a session gets and why, with every setting that shapes it")
    .argument("[name]", "environment; the one in use when left out")
    .action(lazily(() => import("./env-explain.js")));

  addPluginsGroup(program, lazily);

  const net = program.command("net").description("what network tools may reach");
  net
    .command("test")
    .description("dry run of the URL guard: one JSON object per line, nothing is dialled")
    .action(lazily(() => import("./net-test.js")));

  addMcpCommands(program, lazily);
  program
    .command("stats")
    .description("calls, errors and times per tool")
    .option("--days <n>", "look back this far", "30")
    .action(lazily(() => import("./stats.js")));
  if (completion) {
    program
      .command("completion")
      .description("shell completion script")
      .argument("<shell>", "bash, zsh, fish or powershell")
      .action(lazily(() => import("./completion.js")));
  }
  program
    .command("serve")
    .description("HTTP API and page on 127.0.0.1:9119")
    .option("--host <address>", "address to listen on")
    .option("--port <port>", "port; 0 picks a free one")
    .action(lazily(() => import("./serve.js")));
  return program;
}

export async function runProgram(argv: readonly string[]): Promise<void> {
  ignoreClosedPipes();
  const completing = argv[0] === "completion" || argv[0] === "complete";
  const program = buildProgram({ completion: !completing });
  const json = argv.includes("--json") || argv.includes("--jsonl");
  if (json) silence(program);
  try {
    if (completing) (await import("./completion.js")).addCompletion(program);
    else await addPluginCommand({ program, argv, lazily });
    await program.parseAsync(variablesOfServers(argv), { from: "user" });
  } catch (thrown) {
    const out = new Output({ json });
    if (!(thrown instanceof CommanderError)) out.failWith(thrown);
    else if (thrown.exitCode !== 0) {
      process.exitCode = EXIT.usage;
      if (json) out.fail(usageFailure(thrown), EXIT.usage);
    }
  }
}

/** A reader such as `head` may leave early: no reason for a stack, or to end a call that is running. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/** The parser's own words about a mistake; with `--json` one line of JSON takes their place. */
export function silence(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}

/** The parser's message has its suggestion on a second line, in brackets. */
function usageFailure(error: CommanderError): Failure {
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n", 2);
  const hint = suggestion?.replace(/^\((.*)\)$/, "$1");
  return { code: "bad_request", message, ...(hint !== undefined && { hint }) };
}
