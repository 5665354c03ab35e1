import type { LoadedConfig } from "../../config/types.js";
import type { FoundPlugin } from "./read-plugin.js";

/**
 * A project's own file may switch plugins off, but not those that watch calls: that would loosen what the person has
 * put in force.
 */
export function isOff(
  name: string,
  { config, found }: { readonly config: LoadedConfig; readonly found: readonly FoundPlugin[] },
): boolean {
  if (!config.values.plugins.disabled.includes(name)) return false;
  if (config.origin(`plugins.disabled.${name}`).source !== "project") return true;
  const plugin = found.find((one) => one.name === name);
  return plugin?.manifest !== undefined && !bringsHooks(plugin);
}

export function bringsHooks({ manifest }: FoundPlugin): boolean {
  return (manifest?.brings.hooks.length ?? 0) > 0;
}
