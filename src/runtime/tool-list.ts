import type { Status } from "../registry/availability.js";
import type { Entry } from "../registry/entry.js";

/** One line of `hermes tools list`, and the whole of `hermes tools info`. */
export interface ToolListing {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly emoji: string;
  readonly permissions: readonly string[];
  readonly provenance: Entry["provenance"];
  readonly enabled: boolean;
  readonly because: string;
  readonly available: boolean;
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  readonly requires_env: readonly string[];
}

const DEFAULT_EMOJI = "⚡";

export function listingOf(options: {
  readonly entry: Entry;
  readonly status: Status;
  readonly enabled: boolean;
  readonly because: string;
}): ToolListing {
  const { entry, status } = options;
  return {
    name: entry.name,
    aliases: entry.aliases,
    toolset: entry.toolset,
    description: entry.description,
    emoji: entry.emoji ?? DEFAULT_EMOJI,
    permissions: entry.permissions,
    provenance: entry.provenance,
    enabled: options.enabled,
    because: options.because,
    available: status.ok,
    reason: status.reason,
    fix: status.fix,
    requires_env: entry.requiresEnv ?? [],
  };
}
