import type { ModelFinish, ModelPurpose } from "../model/model-client.js";
import { costOf, type ModelPrices, mostItCanCost } from "../model/prices.js";
import { estimatedTokens } from "./context-meter.js";
import type { AgentUsage } from "./events.js";
import type { ConversationStore, StoredMessage } from "./sessions/types.js";

/** The most that may be spent, in US dollars: by a conversation with all it hands on, and in a day. */
export interface Budget {
  readonly sessionUsd?: number | undefined;
  readonly dayUsd?: number | undefined;
}

/** What an answer may cost is not known before; this much of it is kept back. */
const ANSWER_TOKENS = 1_000;

/** Whom a turn asks: the name and the prices of the model that answers now. */
export interface Priced {
  readonly name: string;
  readonly prices?: ModelPrices | undefined;
}

/** Counts what a turn costs, whatever it was for, and says before a request whether there is money left for it. */
export class Ledger {
  readonly #store: ConversationStore;
  readonly #session: string;
  /** The conversation that pays: the one that handed the work on, if one did. */
  readonly #payer: string;
  readonly #model: Priced;
  readonly #budget: () => Budget;
  #requests = 0;
  #input = 0;
  #output = 0;
  #cached = 0;
  #cost = 0;
  /** False once something was asked that nobody knows the price of. */
  #isPriced: boolean;

  constructor(options: {
    readonly store: ConversationStore;
    readonly session: string;
    readonly payer?: string | undefined;
    readonly model: Priced;
    /** Asked each time: it can be raised while the work waits. */
    budget(): Budget;
  }) {
    this.#store = options.store;
    this.#session = options.session;
    this.#payer = options.payer ?? options.session;
    this.#model = options.model;
    this.#budget = () => options.budget();
    this.#isPriced = options.model.prices !== undefined;
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
    return this.#isPriced ? this.#cost : null;
  }

  async add(purpose: ModelPurpose, { usage, model }: Pick<ModelFinish, "usage" | "model">): Promise<void> {
    this.#requests += 1;
    if (usage === undefined) return;
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#cached += usage.cachedTokens ?? 0;
    const costUsd = costOf(usage, this.#model.prices);
    if (costUsd === undefined) this.#isPriced = false;
    this.#cost += costUsd ?? 0;
    await this.#store.addBill({
      session: this.#session,
      model: model ?? this.#model.name,
      purpose,
      usage,
      costUsd,
    });
  }

  /** Why the next request may not be made; undefined when it may. The work waits: nothing of it is lost. */
  async refusal(next: readonly StoredMessage[]): Promise<string | undefined> {
    const { sessionUsd, dayUsd } = this.#budget();
    const request = { inputTokens: estimatedTokens(next), outputTokens: ANSWER_TOKENS };
    const about = mostItCanCost(request, this.#model.prices) ?? 0;
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
