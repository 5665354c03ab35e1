import { ENVIRONMENT_NAMES, isBuiltinEnvironment, type PluginEnvironments } from "../env/status.js";
import { failure, HermesError } from "../tool/errors.js";

/** The name itself, when there is an environment of that name. */
export function environmentNamed(name: string, plugins: PluginEnvironments | undefined): string {
  const others = plugins?.environmentNames() ?? [];
  if (isBuiltinEnvironment(name) || others.includes(name)) return name;
  throw new HermesError(
    failure(
      "not_found",
      `There is no environment called ${JSON.stringify(name)}`,
      `Environments: ${[...ENVIRONMENT_NAMES, ...others].join(", ")}.`,
    ),
  );
}
