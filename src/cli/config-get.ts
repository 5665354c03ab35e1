import { getConfigValue } from "../config/get-value.js";
import { loadConfig } from "../config/load.js";
import { CONFIG_KEYS } from "../config/schema.js";
import { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";
import { describeOrigin } from "./output.js";

export async function run(
  { out, home, configFlags }: CommandContext,
  [key]: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const showOrigin = options.showOrigin === true;
  const read = (path: string) => {
    const found = getConfigValue(config, path);
    if (!found.ok) throw new HermesError(found);
    return { key: path, value: found.value, origin: config.origin(path) };
  };
  if (key === undefined) {
    const rows = CONFIG_KEYS.map((known) => read(known.path));
    if (out.json) out.values(rows);
    else
      for (const row of rows)
        out.line(
          `${row.key} = ${plain(row.value)}${showOrigin ? out.color.dim(`  ${describeOrigin(row.origin)}`) : ""}`,
        );
    return;
  }
  const row = read(key);
  if (out.json) out.value(showOrigin ? row : row.value);
  else out.line(`${plain(row.value)}${showOrigin ? `  ${describeOrigin(row.origin)}` : ""}`);
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
