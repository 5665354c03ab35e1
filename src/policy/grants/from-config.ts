import { entryName } from "../../config/grant-entry.js";
import type { AllowlistEntry, LoadedConfig } from "../../config/types.js";
import { judgeCommand } from "../../shell/analysis.js";
import { type Allowlist, type AllowlistOptions, createAllowlist } from "./allowlist.js";
import type { GrantPlace } from "./grant.js";

/** The allowlist a configuration describes. */
export function allowlistFrom(
  config: LoadedConfig,
  options: Pick<AllowlistOptions, "canonical" | "redact" | "onTrouble"> = {},
): Allowlist {
  const origin = config.origin("command_allowlist");
  return createAllowlist({
    canonical: canonicalText,
    ...options,
    entries: config.values.command_allowlist,
    home: config.paths.home,
    readAt: config.loadedAt,
    placeOf: (entry) => placeOf(config, entry),
    ...(origin.source === "managed" && { managedBy: origin.file ?? "the administrator" }),
  });
}

/** What a single command comes to, so that a grant may be written in any spelling of it. */
function canonicalText(command: string): string | undefined {
  const { segments } = judgeCommand(command);
  return segments.length === 1 ? segments[0]?.canonical : undefined;
}

export function placeOf(config: LoadedConfig, entry: AllowlistEntry): GrantPlace {
  const { file, line } = config.origin(`command_allowlist.${entryName(entry)}`);
  return { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
}
