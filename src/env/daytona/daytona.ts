import type { Environment } from "../environment.js";
import { createRemoteEnvironment } from "../remote/remote-environment.js";
import type { DaytonaOptions } from "./options.js";
import { SandboxKeeper } from "./sandbox-keeper.js";
import { createDaytonaTransport } from "./transport.js";

export type { DaytonaOptions } from "./options.js";

/** A sandbox of the Daytona service. Rejects when it cannot be reached. */
export async function createDaytonaEnvironment(options: DaytonaOptions): Promise<Environment> {
  const keeper = new SandboxKeeper(options);
  const environment = createRemoteEnvironment({
    name: options.name ?? "daytona",
    kind: "daytona",
    transport: createDaytonaTransport(keeper),
    defaultCwd: options.cwd ?? "~",
    loginShell: false,
    ...(options.passthrough === undefined ? {} : { passthrough: options.passthrough }),
    close: () => keeper.close(),
    closeEndsAll: true,
    facts: () => keeper.facts(),
    snapshot: () => keeper.snapshot(),
  });
  try {
    await environment.connect();
  } catch (error) {
    await keeper.close().catch(() => {});
    throw error;
  }
  return environment;
}
