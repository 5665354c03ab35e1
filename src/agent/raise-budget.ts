import type { LoadedConfig } from "../config/types.js";
import { type Failure, failure } from "../tool/errors.js";
import type { Budget } from "./ledger.js";
import type { BudgetOf, ConversationStore } from "./sessions/types.js";

export function configuredBudget({ values }: Pick<LoadedConfig, "values">): Budget {
  const { budget_usd: session, budget_day_usd: day } = values.model;
  return { ...(session > 0 && { sessionUsd: session }), ...(day > 0 && { dayUsd: day }) };
}

export interface BudgetState {
  readonly spent_usd: number;
  /** Null where none is set. */
  readonly budget_usd: number | null;
}

interface BudgetParts {
  readonly store: ConversationStore;
  /** As it is configured. */
  readonly budget: Budget;
  readonly of: BudgetOf;
}

export async function budgetState({ store, budget, of }: BudgetParts): Promise<BudgetState> {
  const isDay = "dayOf" in of;
  const spent = isDay ? { since: new Date(of.dayOf).setHours(0, 0, 0, 0) } : of;
  const configured = isDay ? budget.dayUsd : budget.sessionUsd;
  return {
    spent_usd: await store.spent(spent),
    budget_usd: configured === undefined ? null : Math.max(configured, (await store.raisedBudget(of)) ?? 0),
  };
}

/** For this conversation or this day alone; what is configured stays. Whoever works on it finds it before its next request. */
export async function raiseBudget(parts: BudgetParts, usd: number): Promise<BudgetState | Failure> {
  const { budget_usd: now } = await budgetState(parts);
  const key = "dayOf" in parts.of ? "model.budget_day_usd" : "model.budget_usd";
  if (now === null)
    return failure(
      "bad_request",
      "There is no budget that could be raised",
      `Set one: hermes config set ${key} AMOUNT`,
    );
  if (!(usd > now && usd < Number.POSITIVE_INFINITY))
    return failure(
      "bad_request",
      `The budget is $${now.toFixed(2)} already`,
      `A larger amount raises it; hermes config set ${key} AMOUNT lowers it for all.`,
    );
  await parts.store.raiseBudget(parts.of, usd);
  return budgetState(parts);
}

/** What is typed behind `/budget`, for people: nothing looks, `5` raises the conversation's, `day 20` the day's. */
export async function budgetCommand(
  parts: Omit<BudgetParts, "of"> & { readonly conversation: string },
  typed: string,
): Promise<{ readonly text: string; readonly isRaised: boolean }> {
  const [, day, amount] = /^(day\b)?\s*\$?(\d*\.?\d*)$/i.exec(typed.trim()) ?? [];
  if (amount === undefined) return { text: "Say how much: /budget 5, or /budget day 20", isRaised: false };
  const of: BudgetOf = day === undefined ? { session: parts.conversation } : { dayOf: Date.now() };
  const what = day === undefined ? "conversation" : "day";
  const state =
    amount === "" ? await budgetState({ ...parts, of }) : await raiseBudget({ ...parts, of }, Number(amount));
  if ("code" in state) return { text: [state.message, state.hint].join(". "), isRaised: false };
  return { text: budgetText(what, state), isRaised: amount !== "" };
}

export function budgetText(what: string, { spent_usd, budget_usd }: BudgetState): string {
  const spent = `$${spent_usd.toFixed(4)} of this ${what} is spent`;
  return budget_usd === null
    ? `${spent}; there is no budget`
    : `The budget of this ${what} is $${budget_usd.toFixed(2)}; $${spent_usd.toFixed(4)} is spent`;
}
