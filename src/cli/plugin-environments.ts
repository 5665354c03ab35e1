import { loadConfig } from "../config/load.js";
import type { LoadedConfig } from "../config/types.js";
import type { PluginContributions } from "../sources/plugins/source.js";
import type { CommandContext } from "./globals.js";

/** For commands about environments: plugins are loaded when there are any, and nothing else is. */
export async function withPluginEnvironments(
  context: CommandContext,
  work: (config: LoadedConfig, plugins: PluginContributions | undefined) => Promise<void>,
): Promise<void> {
  const { home, configFlags } = context;
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  if (config.values.plugins.enabled.length === 0) {
    await work(config, undefined);
    return;
  }
  const runtime = await context.runtime();
  try {
    await work(runtime.config, runtime.sources.plugins);
  } finally {
    await runtime.close();
  }
}
