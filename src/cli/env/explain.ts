import { getConfigValue } from "../../config/get-value.js";
import { CONFIG_KEYS } from "../../config/schema.js";
import type { LoadedConfig } from "../../config/types.js";
import {
  type EnvironmentStatus,
  environmentSettings,
  environmentStatus,
  requireEnvironmentName,
} from "../../env/environments.js";
import type { CommandContext } from "../context.js";
import { describeOrigin } from "../output.js";
import { withPluginEnvironments } from "./list.js";

/** Which environment a session gets and why, with every setting that shapes it and where it was made. */
export async function explain(context: CommandContext): Promise<void> {
  const [asked] = context.args;
  await withPluginEnvironments(context, async (config, plugins) => {
    const name = requireEnvironmentName(asked ?? config.values.terminal.env, plugins);
    show(context, { config, status: await environmentStatus(name, config, plugins) });
  });
}

function show(
  { out }: CommandContext,
  { config, status }: { readonly config: LoadedConfig; readonly status: EnvironmentStatus },
): void {
  const { name } = status;
  const active = name === config.values.terminal.env;
  const settings = settingsOf(name, config);
  if (out.json) {
    out.value({ ...status, active, chosen_by: config.origin("terminal.env"), settings });
    return;
  }
  const why = describeOrigin(config.origin("terminal.env"));
  out.line(`${out.color.bold(name)}: ${status.about}`);
  out.line(active ? `Sessions run here ${why}.` : `Sessions run in ${config.values.terminal.env} ${why}.`);
  if (!status.ready) out.line(`${out.mark("error")} ${status.reason ?? "not ready"} → ${status.fix ?? ""}`);
  out.line();
  out.table(settings.map((row) => [row.key, JSON.stringify(row.value), describeOrigin(row.origin)]));
}

function settingsOf(name: string, config: LoadedConfig) {
  const read = environmentSettings(name);
  return CONFIG_KEYS.filter(({ path }) => read.has(path)).map(({ path }) => {
    const found = getConfigValue(config, path);
    return { key: path, value: found.ok ? found.value : null, origin: config.origin(path) };
  });
}
