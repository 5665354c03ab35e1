import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../base/record.js";
import type { CallContext } from "../../tool/tool.js";

export interface RlSettings {
  /** Shell text; empty when nobody has set it. */
  readonly command: string;
  /** Empty when nobody has set it. */
  readonly environmentsFolder: string;
}

export function rlSettings({ settings }: CallContext): RlSettings {
  const section = isRecord(settings.rl) ? settings.rl : {};
  const text = (value: unknown) => (typeof value === "string" ? value.trim() : "");
  return { command: text(section.command), environmentsFolder: text(section.environments_folder) };
}

/** Where the plugin keeps its choice and its runs: they outlive sessions. */
export async function dataFolder({ settings, cacheDir }: CallContext): Promise<string> {
  const home = settings.hermes_home;
  const folder = typeof home === "string" ? join(home, "plugin-data", "rl") : join(cacheDir, "rl");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
