import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallResult } from "../../../src/index.js";
import type { SessionOptions } from "../../../src/runtime/session.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import type { CodeResult } from "../../../src/tools/code/execute/result.js";
import { tempDir, testRuntime } from "../../support/runtime.js";

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** A session with all built-in tools; its own settings of `code_execution`, by default without a sandbox. */
export async function codeSession(
  options: {
    readonly settings?: readonly string[];
    readonly tools?: readonly AnyTool[];
    readonly session?: SessionOptions;
    readonly env?: Record<string, string>;
    readonly config?: string;
    readonly journal?: boolean;
  } = {},
) {
  const home = tempDir();
  const lines = ["sandbox: off", ...(options.settings ?? [])].map((line) => `  ${line}`);
  writeFileSync(join(home, "config.yaml"), `code_execution:\n${lines.join("\n")}\n${options.config ?? ""}`);
  const env = { PATH: process.env.PATH, HOME: home, ...options.env };
  const { runtime, cwd } = await testRuntime(options.tools ?? [], {
    builtins: true,
    home,
    env,
    journal: options.journal ?? false,
  });
  const session = await runtime.openSession(options.session);
  const call = (name: string, args: object) => session.call({ name, arguments: args });
  return {
    cwd,
    session,
    runtime,
    call,
    run: async (args: object): Promise<CodeResult> => structured(await call("execute_code", args)),
  };
}

export function structured<T>(result: CallResult): T {
  if (!result.ok) throw new Error(`${result.error?.code}: ${result.error?.message}`);
  return result.structured as T;
}
