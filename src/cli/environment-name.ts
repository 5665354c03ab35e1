import type { EnvironmentKind } from "../env/environment.js";
import { ENVIRONMENT_NAMES } from "../env/status.js";
import { failure, HermesError } from "../tool/errors.js";

export function environmentNamed(name: string): EnvironmentKind {
  const found = ENVIRONMENT_NAMES.find((known) => known === name);
  if (found !== undefined) return found;
  throw new HermesError(
    failure(
      "not_found",
      `There is no environment called ${JSON.stringify(name)}`,
      `Environments: ${ENVIRONMENT_NAMES.join(", ")}.`,
    ),
  );
}
