import type { HermesConfig } from "../config/types.js";
import type { RegistrySnapshot } from "../registry/registry.js";
import { canonicalToolName } from "../registry/toolsets.js";
import { isDeferrable, isNeverHidden } from "./deferrable.js";
import type { ToolUse } from "./tool-use.js";

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
  /** What was called lately, where tools that hardly ever are shall be hidden. */
  readonly use?: ToolUse | undefined;
  /** Whether answers say why a tool was found. */
  readonly explains: boolean;
}

const STANDARD_NAMES: BridgeNames = { search: "tool_search", describe: "tool_describe", call: "tool_call" };

/** For who has tools of their own under the standard names. */
const SPARE_NAMES: BridgeNames = {
  search: "hermes_tool_search",
  describe: "hermes_tool_describe",
  call: "hermes_tool_call",
};

/** The configuration has been cleaned when it was read; what it cannot know is which names tools have. */
export function toolSearchSettings(options: {
  readonly values: HermesConfig;
  readonly registry: RegistrySnapshot;
  /** What the program says of the model; anything but a positive number says nothing. */
  readonly contextTokens: number | undefined;
  readonly use?: ToolUse | undefined;
}): ToolSearchSettings {
  const given = options.values.tools.tool_search;
  const { contextTokens = 0 } = options;
  const window = Number.isFinite(contextTokens) && contextTokens > 0 ? contextTokens : given.context_tokens;
  const asked = { search: given.search_name, describe: given.describe_name, call: given.call_name };
  return {
    mode: given.enabled,
    thresholdPct: given.threshold_pct,
    defaultLimit: given.search_default_limit,
    maxLimit: given.max_search_limit,
    explains: options.values.log.level === "debug",
    contextTokens: window === 0 ? undefined : window,
    use: options.use,
    names: [asked, STANDARD_NAMES].find((names) => areFree(names, options.registry)) ?? SPARE_NAMES,
  };
}

/**
 * Three different names that take no place of a tool a model is always shown. Foreign tools do not count: a server
 * must not be able to rename the stand-ins.
 */
function areFree(names: BridgeNames, registry: RegistrySnapshot): boolean {
  const all = Object.values(names);
  return new Set(all).size === all.length && !all.some((name) => isTaken(name, registry));
}

function isTaken(name: string, registry: RegistrySnapshot): boolean {
  const canonical = canonicalToolName(name, registry);
  const entry = registry.entries.get(canonical);
  return entry === undefined ? isNeverHidden(canonical) : !isDeferrable(entry);
}
