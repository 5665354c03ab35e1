import { isRecord } from "../base/record.js";
import { CallAssembler, ending } from "./assemble-calls.js";
import type { ModelFinish, ModelPart, ModelUsage, OpaqueAnswer } from "./model-client.js";
import { streamedError } from "./server-error.js";
import { field, listIn, numberIn, textIn, unusable } from "./wire.js";

/** One answer of the Responses API, event by event or in one piece. */
export class ResponsesAnswer {
  readonly #from: string;
  readonly #calls = new CallAssembler();
  /** Items that are whole, by their place. */
  readonly #items = new Map<number, unknown>();
  /** Places of calls whose arguments came in pieces. */
  readonly #inPieces = new Set<number>();
  #response: unknown;
  #refused = false;

  constructor(from: string) {
    this.#from = from;
  }

  get hasEnded(): boolean {
    return this.#response !== undefined;
  }

  *take(event: unknown): Generator<ModelPart> {
    const index = numberIn(event, "output_index") ?? 0;
    const delta = textIn(event, "delta");
    switch (textIn(event, "type")) {
      case "response.output_text.delta":
        if (delta !== "") yield { type: "text", text: delta };
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        if (delta !== "") yield { type: "reasoning", text: delta };
        return;
      case "response.refusal.delta":
        this.#refused = true;
        return;
      case "response.output_item.added":
        yield* this.#begin(index, field(event, "item"));
        return;
      case "response.function_call_arguments.delta":
        this.#inPieces.add(index);
        yield* this.#calls.add({ index, text: delta });
        return;
      case "response.output_item.done":
        yield* this.#finish(index, field(event, "item"));
        return;
      case "response.completed":
      case "response.incomplete":
        this.#response = field(event, "response") ?? {};
        return;
      case "response.failed":
        throw streamedError(field(field(event, "response"), "error"));
      case "error":
        throw streamedError(field(event, "error") ?? event);
    }
  }

  *takeWhole(response: unknown): Generator<ModelPart> {
    if (textIn(response, "status") === "failed") throw streamedError(field(response, "error"));
    if (!Array.isArray(field(response, "output"))) throw unusable();
    for (const [index, item] of listIn(response, "output").entries()) {
      for (const part of listIn(item, "content")) {
        const text = textIn(part, "text");
        if (textIn(part, "type") === "output_text" && text !== "") yield { type: "text", text };
        if (textIn(part, "type") === "refusal") this.#refused = true;
      }
      yield* this.#begin(index, item);
      yield* this.#finish(index, item);
    }
    this.#response = response;
  }

  *end(): Generator<ModelPart> {
    const why = textIn(field(this.#response, "incomplete_details"), "reason");
    const reason: ModelFinish["reason"] =
      why === "max_output_tokens"
        ? "length"
        : why === ""
          ? "stop"
          : why === "content_filter"
            ? "refusal"
            : "other";
    const calls = this.#calls.finish({ cutOff: reason === "length" });
    yield* ending(calls, {
      reason: this.#refused ? "refusal" : reason,
      model: textIn(this.#response, "model") || undefined,
      usage: usageOf(this.#response),
      opaque: this.#opaque(),
    });
  }

  *#begin(index: number, item: unknown): Generator<ModelPart> {
    if (textIn(item, "type") !== "function_call") return;
    yield* this.#calls.add({ index, id: textIn(item, "call_id"), name: textIn(item, "name") });
  }

  *#finish(index: number, item: unknown): Generator<ModelPart> {
    if (!isRecord(item)) throw unusable();
    this.#items.set(index, item);
    if (item.type !== "function_call" || this.#inPieces.has(index)) return;
    const text = textIn(item, "arguments");
    yield* this.#calls.add({ index, id: textIn(item, "call_id"), name: textIn(item, "name"), text });
  }

  /** Reasoning goes back with what followed it: one without the other is refused. */
  #opaque(): OpaqueAnswer | undefined {
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const isPlain = items.every((item) => ["message", "function_call"].includes(textIn(item, "type")));
    if (isPlain) return undefined;
    // Ids lead to nothing on a server that was asked to keep nothing; without its text, reasoning cannot go back.
    const isKept = items.every(
      (item) => textIn(item, "type") !== "reasoning" || textIn(item, "encrypted_content") !== "",
    );
    return isKept ? { from: this.#from, json: JSON.stringify(items) } : undefined;
  }
}

function usageOf(response: unknown): ModelUsage | undefined {
  const usage = field(response, "usage");
  const inputTokens = numberIn(usage, "input_tokens");
  const outputTokens = numberIn(usage, "output_tokens");
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const cachedTokens = numberIn(field(usage, "input_tokens_details"), "cached_tokens");
  return { inputTokens, outputTokens, cachedTokens };
}
