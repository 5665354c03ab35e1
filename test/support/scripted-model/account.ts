import { createHash } from "node:crypto";
import type { Asked } from "./scenario.js";

export interface Bill {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

const CHARACTERS_PER_TOKEN = 4;

/** Counts like a provider: what was asked, what was answered, and how much of it was known from before. */
export class Account {
  /** Every beginning of a prompt that was ever sent, part by part, with its model. */
  readonly #beginnings = new Set<string>();
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

  /** How many characters of this prompt began an earlier one of the same model, in whole parts; keeps it for the next. */
  knownPrefix({ model, prompt }: Asked): { readonly known: number; readonly length: number } {
    let beginning = model;
    let known = 0;
    let length = 0;
    for (const part of prompt) {
      beginning = createHash("sha1").update(beginning).update(part).digest("hex");
      length += part.length;
      if (this.#beginnings.has(beginning)) known = length;
      this.#beginnings.add(beginning);
    }
    return { known, length };
  }

  add(model: string, bill: Bill): void {
    this.#bills.push({ model, ...bill });
  }
}

export function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
