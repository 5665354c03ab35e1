import type { ModelFinish, ModelPurpose } from "../model/model-client.js";
import { costOf, type ModelPrices, mostItCanCost } from "../model/prices.js";
import type { AgentUsage } from "./events.js";
import type { Bill, ConversationStore } from "./sessions/types.js";

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

/**
 * What requests on their way may cost, by the conversation that pays: children that ask at the same time must not spend the
 * same dollar. Of other programs it is not known; they can exceed the day's budget by one request each.
 */
const onTheirWay = new WeakMap<
  ConversationStore,
  Map<Ledger, { readonly payer: string; readonly usd: number }>
>();

/** Who counts all that a conversation's turn costs, also what its children and its tools ask for. */
const leading = new WeakMap<ConversationStore, Map<string, Ledger>>();

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

  async add(
    purpose: ModelPurpose,
    { usage, model, definitionTokens }: Pick<ModelFinish, "usage" | "model"> & Pick<Bill, "definitionTokens">,
  ): Promise<void> {
    const costUsd = usage === undefined ? undefined : costOf(usage, this.#model.prices);
    const leader = leading.get(this.#store)?.get(this.#payer);
    for (const ledger of new Set([this, leader ?? this])) ledger.#count(usage, costUsd);
    await this.#store.addBill({
      session: this.#session,
      model: model ?? this.#model.name,
      purpose,
      usage: usage ?? { inputTokens: 0, outputTokens: 0 },
      costUsd,
      definitionTokens,
    });
    this.release();
  }

  #count(usage: ModelFinish["usage"], costUsd: number | undefined): void {
    this.#requests += 1;
    this.#input += usage?.inputTokens ?? 0;
    this.#output += usage?.outputTokens ?? 0;
    this.#cached += usage?.cachedTokens ?? 0;
    if (costUsd === undefined) this.#isPriced = false;
    this.#cost += costUsd ?? 0;
  }

  /** From here until what is returned is called, what others spend for this conversation counts here too. */
  lead(): () => void {
    const ledgers = leading.get(this.#store) ?? new Map<string, Ledger>();
    leading.set(this.#store, ledgers.set(this.#payer, this));
    return () => ledgers.delete(this.#payer);
  }

  /**
   * Sets aside what the next request may cost, or says why it may not be made. The work waits then: nothing of it is
   * lost. What is set aside is free again with `add` or `release`.
   */
  async reserve(inputTokens: number): Promise<string | undefined> {
    this.release();
    const { sessionUsd, dayUsd } = await this.#raised(this.#budget());
    const request = { inputTokens, outputTokens: ANSWER_TOKENS };
    const about = mostItCanCost(request, this.#model.prices) ?? 0;
    const [bySession, byDay] = await Promise.all([
      sessionUsd === undefined ? 0 : this.#store.spent({ session: this.#payer }),
      dayUsd === undefined ? 0 : this.#store.spent({ since: startOfDay() }),
    ]);
    // From here on nobody else gets a word in.
    const others = [...(onTheirWay.get(this.#store)?.values() ?? [])];
    const kin = others.filter(({ payer }) => payer === this.#payer);
    if (sessionUsd !== undefined && bySession + sum(kin) + about > sessionUsd)
      return overBudget({ session: this.#payer, spent: bySession, limit: sessionUsd, about });
    if (dayUsd !== undefined && byDay + sum(others) + about > dayUsd)
      return overBudget({ spent: byDay, limit: dayUsd, about });
    const reserved = onTheirWay.get(this.#store) ?? new Map();
    onTheirWay.set(this.#store, reserved.set(this, { payer: this.#payer, usd: about }));
    return undefined;
  }

  /** With what a person has added since: it is read from disk, so any process can be the one where it was said. */
  async #raised({ sessionUsd, dayUsd }: Budget): Promise<Budget> {
    const [session, day] = await Promise.all([
      sessionUsd === undefined ? undefined : this.#store.raisedBudget({ session: this.#payer }),
      dayUsd === undefined ? undefined : this.#store.raisedBudget({ dayOf: Date.now() }),
    ]);
    return {
      sessionUsd: sessionUsd === undefined ? undefined : Math.max(sessionUsd, session ?? 0),
      dayUsd: dayUsd === undefined ? undefined : Math.max(dayUsd, day ?? 0),
    };
  }

  release(): void {
    onTheirWay.get(this.#store)?.delete(this);
  }

  /** What to tell where there is a budget that cannot be kept. */
  unpriced(): string | undefined {
    const { sessionUsd, dayUsd } = this.#budget();
    if (this.#model.prices !== undefined || (sessionUsd ?? dayUsd) === undefined) return undefined;
    return `The budget does not hold: nobody has said what ${this.#model.name} costs. Set model.prices.input and model.prices.output.`;
  }
}

function sum(reserved: readonly { readonly usd: number }[]): number {
  return reserved.reduce((all, { usd }) => all + usd, 0);
}

function overBudget(over: {
  /** The conversation whose budget it is; left out, it is the day's. */
  readonly session?: string | undefined;
  readonly spent: number;
  readonly limit: number;
  readonly about: number;
}): string {
  const { session, spent, limit, about } = over;
  const [what, day] = session === undefined ? ["today", "day "] : ["this conversation", ""];
  return (
    `The budget for ${what} does not cover the next request: $${spent.toFixed(4)} of $${limit.toFixed(2)} is spent, and it may ` +
    `cost $${about.toFixed(4)}. The work waits; raise the budget with \`/budget ${day}AMOUNT\`, or with ` +
    `\`hermes sessions budget ${session ?? "day"} AMOUNT\`, and say \`go on\`.`
  );
}

function startOfDay(): number {
  return new Date().setHours(0, 0, 0, 0);
}
