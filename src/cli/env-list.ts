import type { LoadedConfig } from "../config/types.js";
import { environmentNames, environmentStatus, type PluginEnvironments } from "../env/environments.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";
import { withPluginEnvironments } from "./plugin-environments.js";

/** Every environment, whether it could be used, and which one sessions get. */
export async function run(context: CommandContext): Promise<void> {
  await withPluginEnvironments(context, (config, plugins) => list(context, config, plugins));
}

async function list(
  { out }: CommandContext,
  config: LoadedConfig,
  plugins: PluginEnvironments | undefined,
): Promise<void> {
  const active = config.values.terminal.env;
  const rows = await Promise.all(
    environmentNames(plugins).map(async (name) => ({
      ...(await environmentStatus(name, config, plugins)),
      active: name === active,
    })),
  );
  if (out.json) {
    out.values(rows);
    return;
  }
  const lines = rows.map((row) => [
    out.mark(row.ready ? "ok" : row.active ? "error" : "warning"),
    row.active ? `${row.name} (in use)` : row.name,
    row.about,
    row.ready ? "" : `${row.reason ?? "not ready"} → ${row.fix ?? ""}`,
  ]);
  for (const line of table(lines)) out.line(line);
}
