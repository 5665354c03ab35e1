import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import type { ExecRequest, ExecResult } from "../../src/env/environment.js";
import type { RemoteEnvironment, RemoteEnvironmentOptions } from "../../src/env/remote/remote-environment.js";
import { createRemoteEnvironment } from "../../src/env/remote/remote-environment.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { FLAVOURS, type Flavour, ProcessTransport } from "./process-transport.js";

const has = (program: string) => spawnSync("sh", ["-c", 'command -v "$1"', "sh", program]).status === 0;

/** Those that can be tried on this machine. */
export const installed: readonly { readonly flavour: Flavour; readonly missing: boolean }[] = FLAVOURS.map(
  (flavour) => ({ flavour, missing: !has(flavour) }),
);

export interface Place {
  readonly environment: RemoteEnvironment;
  readonly transport: ProcessTransport;
  readonly root: string;
  readonly lost: string[];
  run(command: ExecRequest["command"], more?: Partial<ExecRequest>): Promise<ExecResult>;
}

export function openPlace(
  flavour: Flavour,
  options: Partial<RemoteEnvironmentOptions> & { env?: Record<string, string> } = {},
): Place {
  const { env, ...more } = options;
  const root = realpathSync(tempDir());
  const transport = new ProcessTransport({ root, flavour, ...(env !== undefined && { env }) });
  const lost: string[] = [];
  const environment = createRemoteEnvironment({
    name: "there",
    kind: "ssh",
    transport,
    defaultCwd: "~",
    loginShell: false,
    close: async () => {},
    facts: async () => ({ host: "there" }),
    onLost: (why) => void lost.push(why),
    ...more,
  });
  onTestEnd(() => environment.close());
  return {
    environment,
    transport,
    root,
    lost,
    run: (command, request) =>
      environment.exec({
        command,
        cwd: root,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        ...request,
      }),
  };
}

/** Processes of this machine whose variables hold this text. */
export function processesWith(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isZombie = / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\)/s, ""));
        return !isZombie && readFileSync(`/proc/${pid}/environ`, "latin1").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("it did not happen in time");
    await wait(20);
  }
}
