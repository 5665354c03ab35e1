import { budgetState, budgetText, configuredBudget, raiseBudget } from "../../agent/raise-budget.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson } from "../person.js";
import { withConversation, withConversations } from "./open.js";

/** Raised here, it counts for whichever program works on the conversation. */
export async function budget(context: CommandContext): Promise<void> {
  const { out, args } = context;
  const [id, usd] = args;
  if (usd !== undefined) assertPerson("A budget is raised by a person", "Ask the person to raise it.");
  const amount = usd === undefined ? undefined : Number(usd.replace(/^\$/, ""));
  if (Number.isNaN(amount)) throw commandError("bad_request", `${usd} is not an amount of US dollars`);
  const configured = configuredBudget(await context.config());
  const isDay = id === "day";
  const about = isDay ? withConversations : withConversation;
  await about(context, async (store, conversation?: { readonly id: string }) => {
    const of = conversation === undefined ? { dayOf: Date.now() } : { session: conversation.id };
    const parts = { store, budget: configured, of };
    const state = amount === undefined ? await budgetState(parts) : await raiseBudget(parts, amount);
    if ("code" in state) throw new HermesError(state);
    const what = isDay ? "day" : "conversation";
    out.result({ session: conversation?.id ?? null, ...state }, `${budgetText(what, state)}.`);
  });
}
