import type { Command } from "commander";
import { homeDir } from "../config/paths.js";
import type { LoadedConfig } from "../config/types.js";
import type { Runtime } from "../runtime/runtime.js";
import { commandError } from "./errors.js";
import { listOf } from "./input.js";
import type { Output } from "./output.js";

/** Flags every command takes. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly profile?: string;
  readonly toolsets?: string;
  readonly env?: string;
  readonly timeout?: string;
  readonly yolo?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly color?: boolean;
  readonly ascii?: boolean;
  readonly home?: string;
  readonly cluster?: string;
  readonly labels?: string;
}

interface RuntimeWishes {
  /** True where calls are made: with `cluster.url` set they run on its workers. */
  readonly calls?: boolean;
  /** False skips the tool folders of the person and the project. */
  readonly userTools?: boolean;
  /** False: what comes from MCP servers may turn up later. */
  readonly wait?: boolean;
  /** False where the command tells by itself what would be warned of; `-v` says it all the same. */
  readonly warns?: boolean;
  /** The tools it is about: servers are waited for only where one of them may be theirs. */
  readonly tools?: readonly string[];
}

/** What a command gets to work with; configuration and runtime are loaded only when they are asked for. */
export interface CommandContext {
  readonly flags: GlobalFlags;
  /** The words behind the command. */
  readonly args: readonly string[];
  /** The command's own options. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly out: Output;
  readonly home: string;
  config(): Promise<LoadedConfig>;
  runtime(wishes?: RuntimeWishes): Promise<Runtime>;
}

export function contextOf(command: Command, out: Output): CommandContext {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const home = homeDir({ env: process.env, flags });
  const configFlags = configFlagsOf(flags);
  const config = async () => {
    const { loadConfig } = await import("../config/load.js");
    const loaded = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
    await useProxy(loaded);
    return loaded;
  };
  return {
    flags,
    args: command.processedArgs.flat(1).filter((arg) => arg !== undefined) as string[],
    options: command.opts(),
    out,
    home,
    config,
    async runtime({ userTools = true, wait = true, warns = true, calls = false, tools } = {}) {
      const { createRuntime } = await import("../runtime/create-runtime.js");
      if (calls && flags.labels !== undefined) await assertClusterNamed(config);
      const yolo = flags.yolo === true;
      const settings = warns ? configFlags : { "log.level": "error", ...configFlags };
      const runtime = await createRuntime({ home, flags: settings, platform: "cli", yolo, userTools });
      await useProxy(runtime.config);
      (await import("../gateway/provide-messages.js")).provideMessages(runtime);
      const wrongFlag = runtime.config.problems.find(
        (problem) => problem.source === "flag" && problem.severity === "error",
      );
      if (wrongFlag !== undefined) throw commandError("bad_request", wrongFlag.message, "Nothing was run.");
      if (wait && (runtime.sources.get("mcp") ?? runtime.sources.plugins) !== undefined) {
        await (await import("./wait-for-servers.js")).waitForServers({ runtime, out, tools });
      }
      if (calls && runtime.config.values.cluster.url !== "") await joinCluster(runtime);
      return runtime;
    },
  };
}

/** Labels choose a worker: without a cluster the call would run here, whatever this machine is called. */
async function assertClusterNamed(config: () => Promise<LoadedConfig>): Promise<void> {
  (await import("./cluster/assert-cluster.js")).assertCluster(await config());
}

async function joinCluster(runtime: Runtime): Promise<void> {
  try {
    const { assertUnderstood, joining } = await import("./cluster/assert-cluster.js");
    assertUnderstood(runtime.config);
    const { joinCluster: join } = await import("../cluster/join.js");
    await joining(() => join(runtime));
  } catch (thrown) {
    await runtime.close();
    throw thrown;
  }
}

/** Libraries that fetch by themselves go the same way as tools and models. */
async function useProxy({ values }: LoadedConfig): Promise<void> {
  if (values.network.proxy !== "") await (await import("../net/process-proxy.js")).proxyThisProcess(values);
}

/** The same command, about these tools alone: what they do not need is not waited for. */
export function aboutTools(context: CommandContext, tools: readonly string[]): CommandContext {
  return { ...context, runtime: (wishes) => context.runtime({ tools, ...wishes }) };
}

/** Gives a command a runtime and closes it afterwards, whatever happens. */
export async function withRuntime<Result>(
  { runtime: open }: CommandContext,
  work: (runtime: Runtime) => Promise<Result>,
  wishes?: RuntimeWishes,
): Promise<Result> {
  const runtime = await open(wishes);
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** What a tool leaves behind may keep the process alive this long after the command has ended. */
export function exitSoon(afterMs = 500): void {
  setTimeout(() => process.exit(), afterMs).unref();
}

/** The flags that stand for configuration keys. */
function configFlagsOf(given: GlobalFlags) {
  const { profile, toolsets, env, timeout, verbose, quiet, cluster, labels } = given;
  const level = quiet === true ? "error" : verbose === true ? "debug" : undefined;
  const flags = {
    profile,
    toolsets: toolsets === undefined ? undefined : listOf(toolsets),
    env,
    timeout,
    cluster,
    labels: labels === undefined ? undefined : listOf(labels),
    "log.level": level,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}
