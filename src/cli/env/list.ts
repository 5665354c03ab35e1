import type { LoadedConfig } from "../../config/types.js";
import { environmentNames, environmentStatus } from "../../env/environments.js";
import type { PluginContributions } from "../../sources/plugins/source.js";
import { type CommandContext, withRuntime } from "../context.js";

/** Every environment, whether it could be used, and which one sessions get. */
export async function list(context: CommandContext): Promise<void> {
  const { out } = context;
  await withPluginEnvironments(context, async (config, plugins) => {
    const active = config.values.terminal.env;
    const rows = await Promise.all(
      environmentNames(plugins).map(async (name) => ({
        ...(await environmentStatus(name, config, plugins)),
        active: name === active,
      })),
    );
    out.list({
      rows,
      cells: (row) => [
        out.mark(row.ready ? "ok" : row.active ? "error" : "warning"),
        row.active ? `${row.name} (in use)` : row.name,
        row.about,
        row.ready ? "" : `${row.reason ?? "not ready"} → ${row.fix ?? ""}`,
      ],
    });
  });
}

/** For commands about environments: plugins are loaded when there are any, and nothing else is. */
export async function withPluginEnvironments(
  context: CommandContext,
  work: (config: LoadedConfig, plugins: PluginContributions | undefined) => Promise<void>,
): Promise<void> {
  const config = await context.config();
  if (config.values.plugins.enabled.length === 0) return work(config, undefined);
  await withRuntime(context, (runtime) => work(runtime.config, runtime.sources.plugins));
}
