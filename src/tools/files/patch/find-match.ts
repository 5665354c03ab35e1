import type { Region } from "./regions.js";
import type { FindRegions, StrategyName } from "./strategies.js";
import * as strategies from "./strategies.js";

/** From certain to bold. The first one that finds anything decides. */
export const STRATEGIES: readonly (readonly [StrategyName, FindRegions])[] = [
  ["exact", strategies.exact],
  ["line_trimmed", strategies.lineTrimmed],
  ["whitespace_normalized", strategies.whitespaceNormalized],
  ["indentation_flexible", strategies.indentationFlexible],
  ["escape_normalized", strategies.escapeNormalized],
  ["trimmed_boundary", strategies.trimmedBoundary],
  ["unicode_normalized", strategies.unicodeNormalized],
  ["block_anchor", strategies.blockAnchor],
  ["context_aware", strategies.contextAware],
];

/** These accept text that merely resembles the pattern. */
export const SIMILARITY_STRATEGIES: ReadonlySet<StrategyName> = new Set(["block_anchor", "context_aware"]);

export interface Match {
  readonly strategy: StrategyName;
  readonly regions: readonly Region[];
}

export function findMatch(
  text: string,
  pattern: string,
  accepts: (strategy: StrategyName) => boolean = () => true,
): Match | undefined {
  for (const [strategy, find] of STRATEGIES) {
    if (!accepts(strategy)) continue;
    const regions = find(text, pattern);
    if (regions.length > 0) return { strategy, regions };
  }
  return undefined;
}
