import type { HermesConfig } from "../config/types.js";
import { shownName } from "../registry/aliases.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { RegistrySnapshot } from "../registry/registry.js";
import { failure } from "../tool/errors.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import { type ToolSearchSettings, toolSearchSettings } from "./settings.js";

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

/** The usual estimate: four characters of compact JSON to a token. */
const CHARS_PER_TOKEN = 4;

export function estimateTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}

/** The tools array for a list of tools that belongs to no session: to be shown or measured, not to be searched. */
export function assembleReady(options: {
  readonly definitions: readonly ToolDefinition[];
  readonly ready: readonly Entry[];
  readonly registry: RegistrySnapshot;
  readonly values: HermesConfig;
  readonly contextTokens: number | undefined;
  /** As configured when left out. */
  readonly mode?: ToolSearchSettings["mode"] | undefined;
}): Assembly {
  const { definitions, ready, values, mode } = options;
  const configured = toolSearchSettings(options);
  const settings = mode === undefined ? configured : { ...configured, mode };
  const { vocabulary } = values.tools;
  const hidden = ready.filter(isDeferrable);
  const names = new Set(hidden.flatMap(({ name }) => [name, shownName(name, vocabulary)]));
  const finderFor = ({ length }: readonly unknown[]) => ({ size: length, search: async () => [] });
  const catalogue = new Catalogue({ entries: hidden, finderFor });
  const lookUp = () => failure("internal", "these stand-ins are only shown");
  return assembleTools({
    definitions,
    settings,
    isDeferrable: (name) => names.has(name),
    bridge: () =>
      bridgeTools({ settings, catalogue: () => catalogue, lookUp }).map(
        (tool) => Entry.fromTool(tool, { kind: "builtin" }).definition,
      ),
  });
}
