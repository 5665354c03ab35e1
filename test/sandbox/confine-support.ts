import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Confine, Environment, ExecRequest, ExecResult } from "../../src/env/environment.js";
import { createLocalEnvironment, type LocalEnvironmentOptions } from "../../src/env/local/local.js";
import type { SandboxOptions } from "../../src/env/sandbox/types.js";
import { type Jail, makeJail, SECRET } from "./support.js";

export const MIB = 1024 ** 2;

/** A person's machine as it is by default: without a sandbox around commands. */
export function useMachine() {
  let jail: Jail;
  let before: string;
  const opened: Environment[] = [];
  beforeAll(() => {
    jail = makeJail();
    before = jail.fingerprint();
  });
  afterEach(async () => {
    for (const environment of opened.splice(0)) await environment.close();
  });
  afterAll(async () => {
    const after = jail.fingerprint();
    await jail.close();
    expect(after).toBe(before);
  });

  function confine(changes: Partial<Confine> = {}): Confine {
    return {
      mode: "required",
      network: false,
      writable: [jail.workspace],
      memoryBytes: 512 * MIB,
      processes: 64,
      ...changes,
    };
  }

  return {
    jail: () => jail,
    confine,
    open(sandbox: Partial<SandboxOptions> = {}, more: LocalEnvironmentOptions = {}): Environment {
      const made = createLocalEnvironment({
        env: { PATH: process.env.PATH ?? "", HOME: jail.home, TMPDIR: process.env.TMPDIR, API_KEY: SECRET },
        sandbox: { mode: "off", hidden: [jail.hermesHome], visible: [jail.base], ...sandbox },
        ...more,
      });
      opened.push(made);
      return made;
    },
    run(
      environment: Environment,
      command: ExecRequest["command"],
      changes: Partial<ExecRequest> = {},
    ): Promise<ExecResult> {
      return environment.exec({
        command,
        cwd: jail.workspace,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        confine: confine(),
        ...changes,
        env: { OUT: jail.outside, WS: jail.workspace, HERMES: jail.hermesHome, ...changes.env },
      });
    },
  };
}
