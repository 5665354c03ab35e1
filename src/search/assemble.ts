import type { HermesConfig } from "../config/types.js";
import { shownName } from "../registry/aliases.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { RegistrySnapshot } from "../registry/registry.js";
import { failure } from "../tool/errors.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import { type ToolSearchSettings, toolSearchSettings } from "./settings.js";
import { isHardlyUsed, type ToolUse } from "./tool-use.js";

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
  /** Tools that are hidden although there is room for them: they are hardly ever used. */
  isHardlyUsed?(name: string): boolean;
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
  const unused =
    settings.mode === "auto"
      ? deferrable.filter(({ function: { name } }) => options.isHardlyUsed?.(name))
      : [];
  // What is left when they are gone may well have room.
  const left = tokens.deferrable - unused.reduce((sum, definition) => sum + estimateTokens(definition), 0);
  const all = isActive(settings, { ...tokens, count: deferrable.length, deferrable: left });
  const deferred = all ? deferrable : unused;
  const active = deferred.length > 0;
  if (!active) return { definitions: plain, active, deferrable, tokens };
  const hidden = new Set(deferred);
  const shown = [...plain.filter((definition) => !hidden.has(definition)), ...options.bridge(deferred)];
  shown.sort((a, b) => (a.function.name < b.function.name ? -1 : 1));
  return { definitions: Object.freeze(shown), active, deferrable: deferred, tokens };
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
  readonly use?: ToolUse | undefined;
  /** As configured when left out. */
  readonly mode?: ToolSearchSettings["mode"] | undefined;
}): Assembly {
  const { definitions, ready, values, mode } = options;
  const configured = toolSearchSettings(options);
  const settings = mode === undefined ? configured : { ...configured, mode };
  const { vocabulary } = values.tools;
  const hidden = ready.filter(isDeferrable);
  const spellings = (entries: readonly Entry[]) =>
    new Set(entries.flatMap(({ name }) => [name, shownName(name, vocabulary)]));
  const names = spellings(hidden);
  const { use } = settings;
  const unused = spellings(use === undefined ? [] : hidden.filter(({ name }) => isHardlyUsed(use, name)));
  const finderFor = ({ length }: readonly unknown[]) => ({ size: length, search: async () => [] });
  const catalogue = new Catalogue({ entries: hidden, finderFor });
  const lookUp = () => failure("internal", "these stand-ins are only shown");
  return assembleTools({
    definitions,
    settings,
    isDeferrable: (name) => names.has(name),
    isHardlyUsed: (name) => unused.has(name),
    bridge: () =>
      bridgeTools({ settings, catalogue: () => catalogue, lookUp }).map(
        (tool) => Entry.fromTool(tool, { kind: "builtin" }).definition,
      ),
  });
}
