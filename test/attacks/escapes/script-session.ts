import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { type CallResult, createLogger, createRuntime, ToolRegistry } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { type Place, SECRET } from "./place.js";

/** What `execute_code` answers, as far as it matters here. */
export interface ScriptResult {
  readonly status: string;
  readonly output: string;
  readonly exit_code: number;
  readonly error?: string;
  readonly sandbox: string;
  readonly tool_calls_made: number;
}

export interface ScriptSession {
  run(language: "python" | "javascript", code: string, timeout?: number): Promise<ScriptResult>;
  close(): Promise<void>;
}

export interface ScriptOptions {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly AnyTool[];
  /** Lets pass what the gate would never let pass, so that the sandbox alone is under test. */
  readonly withoutGate?: boolean;
}

/** A session in a place, with secrets in its runtime's variables, that says yes to every script. */
export async function openScripts(place: Place, options: ScriptOptions = {}): Promise<ScriptSession> {
  const registry = new ToolRegistry();
  for (const tool of options.tools ?? []) registry.add(tool);
  const runtime = await createRuntime({
    registry,
    userTools: false,
    journal: false,
    yolo: true,
    home: place.hermesHome,
    cwd: place.workspace,
    systemDir: join(place.hermesHome, "no-system-config"),
    logger: createLogger({ level: "error", sink: () => undefined }),
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      SOME_API_KEY: SECRET,
      GITHUB_TOKEN: SECRET,
      DATABASE_URL: `postgres://user:${SECRET}@db`,
      SSH_AUTH_SOCK: "/run/agent.sock",
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/0/bus",
      XDG_RUNTIME_DIR: "/run/user/0",
    },
    flags: {
      "code_execution.sandbox": "required",
      "code_execution.max_stdout_bytes": 400_000,
      ...options.flags,
    },
    ...(options.withoutGate === true && { policy: { decide: () => ({ verdict: "allow", rule: "test" }) } }),
  });
  const session = await runtime.openSession();
  return {
    async run(language, code, timeout = 20) {
      const result = await session.call({ name: "execute_code", arguments: { code, language, timeout } });
      return answerOf(result);
    },
    async close() {
      await session.close();
      await runtime.close();
    },
  };
}

function answerOf(result: CallResult): ScriptResult {
  if (result.structured === undefined) throw new Error(JSON.stringify(result.error ?? result.content));
  return result.structured as unknown as ScriptResult;
}

export interface Row {
  readonly name: string;
  readonly proof: string | null;
  readonly why?: string | null;
}

/** One line for each attempt; a line that is none tells that the script broke off. */
export function rowsOf({ output }: ScriptResult): readonly Row[] {
  return output
    .trim()
    .split("\n")
    .map((line) => {
      try {
        return JSON.parse(line) as Row;
      } catch {
        return { name: "broken off", proof: line };
      }
    });
}

/** Programs that run in a folder now, whatever started them. */
export function runningIn(folder: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}
