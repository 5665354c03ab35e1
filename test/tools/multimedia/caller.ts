import { join } from "node:path";
import type { CallResult } from "../../../src/tool/call.js";
import { testRuntime } from "../../support/runtime.js";

export interface Caller {
  /** The working folder. */
  readonly cwd: string;
  readonly home: string;
  path(name: string): string;
  call(name: string, args: Record<string, unknown>): Promise<CallResult>;
  /** The same, ended by the signal. */
  callUntil(signal: AbortSignal, request: { name: string; arguments: unknown }): Promise<CallResult>;
}

/** Calls through the whole path, everything allowed that asks. */
export async function caller(
  options: {
    readonly flags?: Readonly<Record<string, unknown>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly home?: string;
  } = {},
): Promise<Caller> {
  const { runtime, cwd, home } = await testRuntime([], {
    builtins: true,
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...options.flags },
    ...(options.home !== undefined && { home: options.home }),
    ...(options.env !== undefined && { env: { PATH: process.env.PATH, ...options.env } }),
  });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  return {
    cwd,
    home,
    path: (name) => join(cwd, name),
    call: (name, args) => session.call({ name, arguments: args }),
    callUntil: (signal, request) => session.call(request, { signal }),
  };
}
