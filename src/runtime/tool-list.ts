import type { ConfigProblem } from "../config/types.js";
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
  readonly reason?: string;
  readonly fix?: string;
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
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.fix !== undefined && { fix: status.fix }),
    requires_env: entry.requiresEnv ?? [],
  };
}

/** A finding of `hermes doctor`. */
export interface Finding {
  readonly group: string;
  readonly level: "ok" | "warning" | "error";
  readonly what: string;
  readonly fix?: string;
}

export function findingOfConfig(problem: ConfigProblem): Finding {
  const place =
    problem.file === undefined
      ? ""
      : `${problem.file}${problem.line === undefined ? "" : `:${problem.line}`}: `;
  return {
    group: "Config",
    level: problem.severity,
    what: `${place}${problem.message}`,
    ...(problem.hint !== undefined && { fix: problem.hint }),
  };
}
