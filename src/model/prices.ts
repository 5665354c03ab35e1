import type { ModelUsage } from "./model-client.js";

/** USD per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Of input the server still knew; as `input` when left out. */
  readonly cached?: number | undefined;
  /** Of input it keeps for the next time; as `input` when left out. */
  readonly cacheWrite?: number | undefined;
}

export const FREE: ModelPrices = { input: 0, output: 0 };

const MILLION = 1_000_000;

/**
 * What a request cost, in USD. Every token is in exactly one part (fresh, known, kept, answered), so that the sum over
 * requests is the bill. What the server itself says it cost counts before any table. Undefined without a price.
 */
export function costOf(usage: ModelUsage, prices: ModelPrices | undefined): number | undefined {
  if (usage.costUsd !== undefined) return usage.costUsd;
  if (prices === undefined) return undefined;
  const { cached, cacheWrite, fresh, output } = exclusiveParts(usage);
  const paid =
    fresh * prices.input +
    cached * (prices.cached ?? prices.input) +
    cacheWrite * (prices.cacheWrite ?? prices.input) +
    output * prices.output;
  return paid / MILLION;
}

/** The most a request can cost that is still to be asked, for budgets that are checked before. */
export function mostItCanCost(
  request: { readonly inputTokens: number; readonly outputTokens: number },
  prices: ModelPrices | undefined,
): number | undefined {
  if (prices === undefined) return undefined;
  const dearest = Math.max(prices.input, prices.cacheWrite ?? 0);
  return (request.inputTokens * dearest + request.outputTokens * prices.output) / MILLION;
}

/** Vendors differ in what they call input; here no token is in two parts. */
export function exclusiveParts({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens }: ModelUsage): {
  readonly fresh: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
} {
  const cached = Math.min(cachedTokens ?? 0, inputTokens);
  const cacheWrite = Math.min(cacheWriteTokens ?? 0, inputTokens - cached);
  return { fresh: inputTokens - cached - cacheWrite, cached, cacheWrite, output: outputTokens };
}

/** Sums up requests. */
export function addUsage(one: ModelUsage | undefined, other: ModelUsage): ModelUsage {
  const sum = (name: keyof ModelUsage) =>
    one?.[name] === undefined && other[name] === undefined
      ? undefined
      : (one?.[name] ?? 0) + (other[name] ?? 0);
  return {
    inputTokens: (one?.inputTokens ?? 0) + other.inputTokens,
    outputTokens: (one?.outputTokens ?? 0) + other.outputTokens,
    cachedTokens: sum("cachedTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    costUsd: sum("costUsd"),
  };
}

/**
 * Published prices, by the beginning of a model's name. They change: `model.prices` says otherwise. As of January 2026,
 * from openai.com/api/pricing, claude.com/pricing and ai.google.dev/pricing (standard service, short prompts).
 */
// biome-ignore format: a table.
const PUBLISHED: readonly (readonly [RegExp, ModelPrices])[] = [
  [/^gpt-5(?:\.1)?(?:-\d{4}|$)/, { input: 1.25, output: 10, cached: 0.125 }],
  [/^gpt-5-mini/, { input: 0.25, output: 2, cached: 0.025 }],
  [/^gpt-5-nano/, { input: 0.05, output: 0.4, cached: 0.005 }],
  [/^gpt-4\.1(?:-\d{4}|$)/, { input: 2, output: 8, cached: 0.5 }],
  [/^gpt-4\.1-mini/, { input: 0.4, output: 1.6, cached: 0.1 }],
  [/^gpt-4\.1-nano/, { input: 0.1, output: 0.4, cached: 0.025 }],
  [/^gpt-4o(?:-\d{4}|$)/, { input: 2.5, output: 10, cached: 1.25 }],
  [/^gpt-4o-mini/, { input: 0.15, output: 0.6, cached: 0.075 }],
  [/^o3(?:-\d{4}|$)/, { input: 2, output: 8, cached: 0.5 }],
  [/^o4-mini/, { input: 1.1, output: 4.4, cached: 0.275 }],
  [/^claude-opus-4-5/, { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 }],
  [/^claude-opus-4(?:-1|-0|-\d{8}|$)/, { input: 15, output: 75, cached: 1.5, cacheWrite: 18.75 }],
  [/^claude-sonnet-4/, { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 }],
  [/^claude-haiku-4-5/, { input: 1, output: 5, cached: 0.1, cacheWrite: 1.25 }],
  [/^gemini-2\.5-pro/, { input: 1.25, output: 10, cached: 0.125 }],
  [/^gemini-2\.5-flash(?:$|-\d|-preview)/, { input: 0.3, output: 2.5, cached: 0.03 }],
  [/^gemini-2\.5-flash-lite/, { input: 0.1, output: 0.4, cached: 0.01 }],
];

/** Only for the providers' own servers: elsewhere the same name costs something else. */
export function publishedPrices(model: string): ModelPrices | undefined {
  return PUBLISHED.find(([name]) => name.test(model))?.[1];
}
