import type { Command } from "commander";
import { homeDir } from "../config/paths.js";
import { createRuntime } from "../runtime/create-runtime.js";
import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";
import { Output } from "./output.js";

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
  runtime(options?: { readonly userTools?: boolean }): Promise<Runtime>;
}

export function contextOf(command: Command): CommandContext {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const home = homeDir({ env: process.env, flags });
  return {
    flags,
    out: new Output(flags),
    home,
    async runtime(options = {}) {
      const runtime = await createRuntime({
        home,
        flags: configFlags(flags),
        ...(flags.yolo === true && { yolo: true }),
        ...(options.userTools !== undefined && { userTools: options.userTools }),
      });
      const wrongFlag = runtime.config.problems.find(
        (problem) => problem.source === "flag" && problem.severity === "error",
      );
      if (wrongFlag !== undefined)
        throw new HermesError(failure("bad_request", wrongFlag.message, wrongFlag.hint));
      return runtime;
    },
  };
}

/** The flags that stand for configuration keys. */
function configFlags(flags: GlobalFlags): Record<string, unknown> {
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
