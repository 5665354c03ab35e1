import type { Environment } from "../environment.js";
import { createRemoteEnvironment } from "../remote/remote-environment.js";
import type { ModalOptions } from "./options.js";
import { SandboxKeeper } from "./sandbox-keeper.js";
import { createModalTransport } from "./transport.js";

export type { ModalOptions } from "./options.js";

/** A sandbox of the Modal service. Rejects when it cannot be reached. */
export async function createModalEnvironment(options: ModalOptions): Promise<Environment> {
  const keeper = new SandboxKeeper(options);
  const environment = createRemoteEnvironment({
    name: options.name ?? "modal",
    kind: "modal",
    transport: createModalTransport(keeper),
    defaultCwd: options.cwd ?? "/root",
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
