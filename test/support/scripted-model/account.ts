import type { Asked } from "./scenario.js";

export interface Bill {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

const CHARACTERS_PER_TOKEN = 4;

/** Counts like a provider: what was asked, what was answered, and how much of it was known from before. */
export class Account {
  /** Prompts by model, as one text each. */
  readonly #prompts = new Map<string, string[]>();
  readonly #bills: (Bill & { readonly model: string })[] = [];

  get total(): Bill & { readonly requests: number } {
    const sum = (name: keyof Bill) => this.#bills.reduce((all, bill) => all + bill[name], 0);
    return {
      requests: this.#bills.length,
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cachedTokens: sum("cachedTokens"),
    };
  }

  get bills(): readonly Bill[] {
    return this.#bills;
  }

  /** In USD, of prices per million tokens. */
  cost(prices: { readonly input: number; readonly output: number; readonly cached?: number }): number {
    const { inputTokens, outputTokens, cachedTokens } = this.total;
    const fresh = inputTokens - cachedTokens;
    const known = cachedTokens * (prices.cached ?? prices.input);
    return (fresh * prices.input + known + outputTokens * prices.output) / 1_000_000;
  }

  /** How many characters of this prompt began an earlier one of the same model; keeps it for the next. */
  knownPrefix({ model, prompt }: Asked): { readonly known: number; readonly length: number } {
    const text = prompt.join("\n");
    const earlier = this.#prompts.get(model) ?? [];
    this.#prompts.set(model, [...earlier, text]);
    const known = Math.max(0, ...earlier.map((one) => samePrefix(one, text)));
    return { known, length: text.length };
  }

  add(model: string, bill: Bill): void {
    this.#bills.push({ model, ...bill });
  }
}

export function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function samePrefix(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one[at] === other[at]) at += 1;
  return at;
}
