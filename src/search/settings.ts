import type { HermesConfig } from "../config/types.js";

export interface BridgeNames {
  readonly search: string;
  readonly describe: string;
  readonly call: string;
}

export interface ToolSearchSettings {
  readonly mode: "auto" | "on" | "off";
  /** Share of the context window, in per cent. */
  readonly thresholdPct: number;
  readonly defaultLimit: number;
  readonly maxLimit: number;
  /** Undefined: nobody knows. */
  readonly contextTokens: number | undefined;
  readonly names: BridgeNames;
}

const STANDARD_NAMES: BridgeNames = { search: "tool_search", describe: "tool_describe", call: "tool_call" };

/** The configuration has been cleaned when it was read; names that are not three different ones are not used. */
export function toolSearchSettings(values: HermesConfig): ToolSearchSettings {
  const given = values.tools.tool_search;
  const names = { search: given.search_name, describe: given.describe_name, call: given.call_name };
  return {
    mode: given.enabled,
    thresholdPct: given.threshold_pct,
    defaultLimit: given.search_default_limit,
    maxLimit: given.max_search_limit,
    contextTokens: given.context_tokens === 0 ? undefined : given.context_tokens,
    names: new Set(Object.values(names)).size === 3 ? names : STANDARD_NAMES,
  };
}
