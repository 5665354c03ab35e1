import { isRecord } from "../base/record.js";
import { type Content, textOf } from "../tool/content.js";
import type { ModelMessage } from "./model-client.js";
import { argumentsText } from "./wire.js";

/** A conversation as node-llama-cpp holds it: an answer of the model holds its calls with their results. */
export type HistoryItem =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: (string | FunctionCall)[] };

interface FunctionCall {
  readonly type: "functionCall";
  readonly name: string;
  readonly params: unknown;
  result: unknown;
}

/** Ends with what the model is to go on writing. */
export function ggufHistory(messages: readonly ModelMessage[]): readonly HistoryItem[] {
  const items: HistoryItem[] = [];
  const calls = new Map<string, FunctionCall>();
  for (const message of messages) {
    if (message.role === "tool") {
      const call = calls.get(message.toolCallId);
      if (call !== undefined) call.result = plain(message.content);
    } else if (message.role === "assistant") {
      const last = items.at(-1);
      const response = last?.type === "model" ? last.response : [];
      if (last?.type !== "model") items.push({ type: "model", response });
      if (message.content !== "") response.push(message.content);
      for (const { id, name, arguments: given } of message.toolCalls ?? []) {
        const params: unknown = JSON.parse(argumentsText(given));
        const call: FunctionCall = { type: "functionCall", name, params, result: "" };
        calls.set(id, call);
        response.push(call);
      }
    } else items.push({ type: message.role, text: plain(message.content) });
  }
  if (items.at(-1)?.type !== "model") items.push({ type: "model", response: [] });
  return items;
}

function plain(content: string | readonly Content[]): string {
  return typeof content === "string" ? content : textOf(content);
}

const KNOWN = new Set(["type", "enum", "const", "description", "required", "minItems", "maxItems"]);

/** The part of a schema that a grammar can be made of; the rest is checked when the call is decoded. */
export function grammarSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return { type: "string" };
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (KNOWN.has(name)) kept[name] = value;
    else if (name === "properties" && isRecord(value))
      kept[name] = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, grammarSchema(one)]));
    else if (name === "items") kept[name] = grammarSchema(value);
    else if ((name === "anyOf" || name === "oneOf") && Array.isArray(value))
      kept.oneOf = value.map(grammarSchema);
  }
  return Object.keys(kept).length === 0 ? { type: "string" } : kept;
}
