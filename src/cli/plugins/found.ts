import { visible } from "../../base/visible-text.js";
import { didYouMean } from "../../config/did-you-mean.js";
import type { LoadedConfig } from "../../config/types.js";
import { findPlugins } from "../../sources/plugins/find-plugins.js";
import { BRINGS, type PluginManifest } from "../../sources/plugins/manifest.js";
import type { FoundPlugin } from "../../sources/plugins/read-plugin.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

/** The plugin of that name as it lies on disk; none of its code runs. */
export async function pluginNamed(
  { config: load }: CommandContext,
  name: string,
): Promise<{ readonly plugin: FoundPlugin; readonly config: LoadedConfig }> {
  const config = await load();
  const found = await findPlugins(config);
  const plugin = found.find((one) => one.name === name);
  if (plugin !== undefined) return { plugin, config };
  const names = found.map((one) => one.name);
  const hint =
    didYouMean(name, names) ?? `Plugins: ${names.join(", ") || "none"}. They lie in ${config.paths.plugins}.`;
  throw commandError("not_found", `There is no plugin called ${JSON.stringify(name)}`, hint);
}

/** `tools: a, b`, one text for each kind of thing. */
export function bringsLines({ brings, closedHooks }: PluginManifest): readonly string[] {
  return BRINGS.filter((kind) => brings[kind].length > 0).map((kind) => {
    const names = brings[kind].map((name) =>
      kind === "hooks" && closedHooks.includes(name) ? `${name} (no call runs without it)` : name,
    );
    return visible(`${kind.replace("_", " ")}: ${names.join(", ")}`);
  });
}

/** For programs: only the kinds it has. */
export function bringsOf({ brings }: PluginManifest): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    BRINGS.filter((kind) => brings[kind].length > 0).map((kind) => [kind, brings[kind]]),
  );
}
