import { delegateEnvironment } from "../call/delegate-environment.js";
import type { EnvironmentFactory, EnvironmentRequest } from "../sources/plugins/types.js";
import { ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { OpenRequest } from "./descriptor.js";
import type { Environment } from "./environment.js";
import type { PluginEnvironments } from "./environments.js";

export interface EnvironmentsOfPlugins extends PluginEnvironments {
  environment(name: string): EnvironmentFactory | undefined;
}

const METHODS = ["exec", "spawn", "fetch", "push", "describe", "close"] as const;

/** Opens an environment that a plugin brings, under the name it was asked for by. */
export async function openPluginEnvironment(opening: {
  readonly request: OpenRequest;
  readonly factory: EnvironmentFactory;
  builtin(name: string): Promise<Environment>;
}): Promise<Environment> {
  const { name, task, onProgress } = opening.request;
  const given: EnvironmentRequest = {
    name,
    task,
    progress: (message) => onProgress?.(message),
    builtin: opening.builtin,
    async remote(options) {
      const { openRemoteEnvironment } = await import("./remote/remote-environment.js");
      return openRemoteEnvironment({ ...options, name, kind: "plugin" });
    },
  };
  let environment: Environment;
  try {
    environment = await opening.factory(given);
  } catch (error) {
    if (ToolError.isInstance(error)) throw error;
    const { message } = describeThrown(error);
    throw new ToolError(`The environment ${name} could not be opened: ${message}`, { code: "unavailable" });
  }
  const missing = METHODS.find((method) => typeof environment?.[method] !== "function");
  if (missing !== undefined || typeof environment.files !== "object") {
    const what = missing ?? "files";
    throw new ToolError(`The environment ${name} cannot be used: it has no ${what}`, {
      code: "unavailable",
      hint: "Tell the author of the plugin.",
    });
  }
  // Results and grants carry the name, so one built upon a built-in environment must not be taken for that one.
  return delegateEnvironment(environment, {
    name,
    // It may be built upon one that does, and start programs in another way.
    waitsForReady: undefined,
    describe: async () => ({ ...(await environment.describe()), name }),
  });
}
