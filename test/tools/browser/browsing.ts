import type { CallResult } from "../../../src/tool/call.js";
import { onTestEnd, testRuntime } from "../../support/runtime.js";

export interface Browsing {
  readonly cwd: string;
  readonly home: string;
  call(name: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<CallResult>;
  /** The structured result of a call that must succeed. */
  get(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The ref of the first line of the page that holds this text. */
  ref(text: string): Promise<string>;
  close(): Promise<void>;
}

/** A session whose browser may reach the test's own server and nothing else of this machine. */
export async function openBrowsing(flags: Record<string, unknown> = {}): Promise<Browsing> {
  const { runtime, cwd, home } = await testRuntime([], {
    builtins: true,
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...flags },
  });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  onTestEnd(() => session.close());
  const call: Browsing["call"] = (name, args = {}, signal = undefined) =>
    session.call({ name: `browser_${name}`, arguments: args }, { signal });
  const get: Browsing["get"] = async (name, args) => {
    const { structured, error } = await call(name, args);
    if (error !== undefined) throw new Error(`${error.message} ${error.hint ?? ""}`);
    return structured as Record<string, unknown>;
  };
  return {
    cwd,
    home,
    call,
    get,
    async ref(text) {
      const { snapshot } = await get("snapshot");
      const line = String(snapshot)
        .split("\n")
        .find((one) => one.includes(text));
      const found = /\[ref=([^\]]+)\]/.exec(line ?? "")?.[1];
      if (found === undefined) throw new Error(`nothing to use with ${text} in:\n${snapshot}`);
      return found;
    },
    close: async () => session.close(),
  };
}
