import type { ToolDefinition } from "../registry/entry.js";
import type { ToolSearchSettings } from "./settings.js";
import { estimateTokens } from "./token-estimate.js";

/** When nobody knows how much a model can read, this many tokens of definitions are too much. */
const UNKNOWN_WINDOW_TOKENS = 20_000;

export interface Assembly {
  /** What the model is told, sorted by name. */
  readonly definitions: readonly ToolDefinition[];
  readonly active: boolean;
  /** Definitions that are hidden, or would be if the search were active. */
  readonly deferrable: readonly ToolDefinition[];
  readonly tokens: { readonly deferrable: number; readonly threshold: number };
}

/**
 * The tools array of one turn. It depends on nothing but what it is given, and giving it its own answer changes
 * nothing: names of the stand-ins are theirs alone.
 */
export function assembleTools(options: {
  readonly definitions: readonly ToolDefinition[];
  readonly settings: ToolSearchSettings;
  isDeferrable(name: string): boolean;
  /** Definitions of the stand-ins, told how many tools are behind them. */
  bridge(deferred: readonly ToolDefinition[]): readonly ToolDefinition[];
}): Assembly {
  const { settings } = options;
  const reserved = new Set<string>(settings.mode === "off" ? [] : Object.values(settings.names));
  const plain = options.definitions.filter((definition) => !reserved.has(definition.function.name));
  const deferrable = plain.filter(({ function: { name } }) => options.isDeferrable(name));
  const tokens = {
    deferrable: deferrable.reduce((sum, definition) => sum + estimateTokens(definition), 0),
    threshold: thresholdTokens(settings),
  };
  const active = isActive(settings, { count: deferrable.length, ...tokens });
  if (!active) return { definitions: plain, active, deferrable, tokens };
  const hidden = new Set(deferrable);
  const shown = [...plain.filter((definition) => !hidden.has(definition)), ...options.bridge(deferrable)];
  shown.sort((a, b) => (a.function.name < b.function.name ? -1 : 1));
  return { definitions: Object.freeze(shown), active, deferrable, tokens };
}

export function thresholdTokens({ contextTokens, thresholdPct }: ToolSearchSettings): number {
  return contextTokens === undefined
    ? UNKNOWN_WINDOW_TOKENS
    : Math.ceil((contextTokens * thresholdPct) / 100);
}

function isActive(
  { mode }: ToolSearchSettings,
  found: { readonly count: number; readonly deferrable: number; readonly threshold: number },
): boolean {
  if (mode === "off" || found.count === 0) return false;
  return mode === "on" || found.deferrable >= found.threshold;
}
