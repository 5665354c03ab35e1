import type { ModelFinish, ModelPurpose, ModelUsage } from "../model/model-client.js";
import { estimatedTokens } from "./context-meter.js";
import type { AgentUsage } from "./events.js";
import type { ConversationStore, StoredMessage } from "./sessions/types.js";

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  /** As `input` when left out. */
  readonly cached?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** The most that may be spent, in US dollars: by a conversation with all it hands on, and in a day. */
export interface Budget {
  readonly sessionUsd?: number | undefined;
  readonly dayUsd?: number | undefined;
}

const MILLION = 1_000_000;

/** What one usage costs: each token counts once, at the price of its kind. */
export function costOf(usage: ModelUsage, prices: Prices): number {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  return (
    (plain * prices.input +
      cachedTokens * (prices.cached ?? prices.input) +
      cacheWriteTokens * (prices.cacheWrite ?? prices.input) +
      outputTokens * prices.output) /
    MILLION
  );
}

/** Counts what a turn costs, whatever it was for, and says before a request whether there is money left for it. */
export class Ledger {
  readonly #store: ConversationStore;
  readonly #session: string;
  /** The conversation that pays: the one that handed the work on, if one did. */
  readonly #payer: string;
  readonly #model: string;
  readonly #prices: Prices | undefined;
  readonly #budget: () => Budget;
  #requests = 0;
  #input = 0;
  #output = 0;
  #cached = 0;
  #cost = 0;

  constructor(options: {
    readonly store: ConversationStore;
    readonly session: string;
    readonly payer?: string | undefined;
    readonly model: string;
    readonly prices: Prices | undefined;
    /** Asked each time: it can be raised while the work waits. */
    budget(): Budget;
  }) {
    this.#store = options.store;
    this.#session = options.session;
    this.#payer = options.payer ?? options.session;
    this.#model = options.model;
    this.#prices = options.prices;
    this.#budget = () => options.budget();
  }

  get usage(): AgentUsage {
    return {
      requests: this.#requests,
      input_tokens: this.#input,
      output_tokens: this.#output,
      cached_tokens: this.#cached,
    };
  }

  get costUsd(): number | null {
    return this.#prices === undefined ? null : this.#cost;
  }

  async add(purpose: ModelPurpose, { usage, model }: Pick<ModelFinish, "usage" | "model">): Promise<void> {
    this.#requests += 1;
    if (usage === undefined) return;
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#cached += usage.cachedTokens ?? 0;
    const costUsd = this.#prices === undefined ? undefined : costOf(usage, this.#prices);
    this.#cost += costUsd ?? 0;
    await this.#store.addBill({
      session: this.#session,
      model: model ?? this.#model,
      purpose,
      usage,
      costUsd,
    });
  }

  /** Why the next request may not be made; undefined when it may. The work waits: nothing of it is lost. */
  async refusal(next: readonly StoredMessage[]): Promise<string | undefined> {
    if (this.#prices === undefined) return undefined;
    const { sessionUsd, dayUsd } = this.#budget();
    const about = (estimatedTokens(next) * this.#prices.input) / MILLION;
    if (sessionUsd !== undefined) {
      const spent = await this.#store.spent({ session: this.#payer });
      if (spent + about > sessionUsd) return overBudget("this conversation", spent, sessionUsd);
    }
    if (dayUsd !== undefined) {
      const spent = await this.#store.spent({ since: startOfDay() });
      if (spent + about > dayUsd) return overBudget("today", spent, dayUsd);
    }
    return undefined;
  }
}

function overBudget(what: string, spent: number, limit: number): string {
  return (
    `The budget for ${what} is used up: $${spent.toFixed(4)} of $${limit.toFixed(2)}. The work waits; ` +
    "raise it with `hermes config set model.budget_usd AMOUNT` and go on with `hermes chat --resume last`."
  );
}

function startOfDay(): number {
  return new Date().setHours(0, 0, 0, 0);
}
