import { loadConfig } from "../config/load.js";
import { ENVIRONMENT_NAMES, environmentStatus } from "../env/status.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

/** Every environment, whether it could be used, and which one sessions get. */
export async function run({ out, home, configFlags }: CommandContext): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const active = config.values.terminal.env;
  const rows = await Promise.all(
    ENVIRONMENT_NAMES.map(async (name) => ({
      ...(await environmentStatus(name, config)),
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
