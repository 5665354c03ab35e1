import type { Command } from "commander";
import { homeDir } from "../config/paths.js";
import { createRuntime } from "../runtime/create-runtime.js";
import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Output } from "./output.js";

/** How long a command that ends after one answer waits for servers it has never met. */
const SETTLE_MS = 15_000;

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
}

/** What a command gets to work with; the runtime is made only when it is asked for. */
export interface CommandContext {
  readonly flags: GlobalFlags;
  readonly out: Output;
  readonly home: string;
  /** The flags that stand for configuration keys. */
  readonly configFlags: Readonly<Record<string, unknown>>;
  /** `wait` false: what comes from MCP servers may turn up later. */
  runtime(options?: { readonly userTools?: boolean; readonly wait?: boolean }): Promise<Runtime>;
}

export function contextOf(command: Command, out: Output): CommandContext {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const home = homeDir({ env: process.env, flags });
  const configFlags = configFlagsOf(flags);
  return {
    flags,
    out,
    home,
    configFlags,
    async runtime(options = {}) {
      const runtime = await createRuntime({
        home,
        flags: configFlags,
        platform: "cli",
        ...(flags.yolo === true && { yolo: true }),
        ...(options.userTools !== undefined && { userTools: options.userTools }),
      });
      const wrongFlag = runtime.config.problems.find(
        (problem) => problem.source === "flag" && problem.severity === "error",
      );
      if (wrongFlag !== undefined)
        throw new HermesError(failure("bad_request", wrongFlag.message, "Nothing was run."));
      if (options.wait !== false) await runtime.sources.settled(AbortSignal.timeout(SETTLE_MS));
      return runtime;
    },
  };
}

function configFlagsOf(flags: GlobalFlags): Record<string, unknown> {
  return {
    ...(flags.profile !== undefined && { profile: flags.profile }),
    ...(flags.toolsets !== undefined && {
      toolsets: flags.toolsets
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean),
    }),
    ...(flags.env !== undefined && { env: flags.env }),
    ...(flags.timeout !== undefined && { timeout: flags.timeout }),
    ...(flags.verbose === true && { "log.level": "debug" }),
    ...(flags.quiet === true && { "log.level": "error" }),
  };
}
