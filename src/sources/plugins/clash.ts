import type { LoadedConfig } from "../../config/types.js";
import { BUILTIN_NAMES } from "../../env/environments.js";
import type { Collected } from "./collected.js";
import type { RunningPlugin } from "./running-plugin.js";

interface Other {
  readonly name: string;
  readonly running: RunningPlugin | undefined;
}

const KINDS = [
  ["toolset", "toolsets"],
  ["command", "commands"],
  ["environment", "environments"],
  ["approver", "approvers"],
  ["model provider", "modelProviders"],
] as const;

/** A name that somebody else has already. Tools are not looked at: the registry decides about those one by one. */
export function clashOf(
  collected: Collected,
  world: { readonly config: LoadedConfig; readonly others: readonly Other[] },
): string | undefined {
  for (const [what, field] of KINDS) {
    for (const name of collected[field].keys()) {
      const owner = world.others.find(({ running }) => running?.collected[field].has(name) === true);
      if (owner !== undefined) return `the ${what} ${name} belongs to the plugin ${owner.name} already`;
    }
  }
  // The rules about paths go by the first word of an environment's name.
  const builtin = new RegExp(`^(?:${BUILTIN_NAMES.join("|")})\\b`);
  const environment = [...collected.environments.keys()].find((name) => builtin.test(name));
  if (environment !== undefined) {
    return `the environment ${environment} has the name of a built-in one; choose a name that begins otherwise`;
  }
  const written = world.config.values.custom_toolsets;
  const toolset = [...collected.toolsets.keys()].find((name) => Object.hasOwn(written, name));
  return toolset === undefined ? undefined : `the toolset ${toolset} is written in custom_toolsets already`;
}
