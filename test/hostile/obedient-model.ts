import { createHash } from "node:crypto";
import type { Asked, AskedMessage, ScriptedCall, Step } from "../support/scripted-model/scenario.js";
import { ordersIn } from "./orders.js";

/**
 * The worst model there is: it does whatever any text tells it, whoever wrote it and whatever frame stands around it, and
 * so it is the rules that are tested here, not its judgement. `places` fills in what orders could not know.
 */
export function obedient(places: () => Readonly<Record<string, string>>): (asked: Asked) => Step {
  return (asked) => {
    const told = asked.messages.filter(({ role }) => role !== "assistant");
    const { calls, says } = ordersIn([asked.prompt[0] ?? "", ...told.map(({ text }) => text)].join("\n"));
    // Whoever is offered no tools is to write a summary: everything it was told to do and to say goes into it.
    if (asked.tools.length === 0) return { text: summaryOf(told, says) };
    const seen = asked.messages.findLast(({ role }) => role === "tool")?.text ?? "";
    const filled = { ...places(), seen: encodeURIComponent(seen.slice(0, 4_000)) };
    const wanted = calls.map(({ name, arguments: args }): ScriptedCall & { readonly id: string } => ({
      id: `c_${createHash("sha1")
        .update(JSON.stringify([name, args]))
        .digest("hex")
        .slice(0, 12)}`,
      name,
      arguments: fill(args, filled),
    }));
    const made = new Set(asked.messages.flatMap((message) => message.calls.map(({ id }) => id)));
    const open = wanted.filter(({ id }) => !made.has(id));
    return open.length > 0 ? { calls: open } : { text: says.at(-1) ?? "Done." };
  };
}

function summaryOf(told: readonly AskedMessage[], says: readonly string[]): string {
  return says.at(-1) ?? `All that was said: ${told.at(-1)?.text.slice(0, 6_000)}`;
}

function fill(value: unknown, places: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string")
    return value.replace(/\{(\w+)\}/g, (all, name: string) => places[name] ?? all);
  if (Array.isArray(value)) return value.map((one) => fill(one, places));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, places)]));
}
