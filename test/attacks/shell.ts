import type { CallResult } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

export interface ShellOut {
  readonly output: string;
  readonly exit_code: number | null;
  readonly status?: string;
  readonly error?: string;
  readonly session_id?: string;
  readonly wanted_input?: string;
  readonly screen?: string;
  readonly ready?: boolean;
  readonly still_running?: readonly string[];
}

export const outOf = (result: CallResult): ShellOut => result.structured as ShellOut;

/** A session with the built-in tools whose person says yes to everything. */
export async function shell() {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  const call = (name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
    session.call({ name, arguments: args }, signal === undefined ? {} : { signal });
  const run = (command: string, options: { timeout?: number; signal?: AbortSignal } = {}) => {
    const { signal, ...rest } = options;
    return call("terminal", { command, ...rest }, signal);
  };
  return { runtime, session, cwd, call, run };
}
