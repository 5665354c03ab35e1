import { isRecord } from "../base/record.js";
import { type AssembledCall, CallAssembler, ending } from "./assemble-calls.js";
import type { ModelFinish, ModelPart, ModelUsage, OpaqueAnswer } from "./model-client.js";
import { field, listIn, numberIn, textIn, unusable } from "./wire.js";

/** One answer of the chat completions API, as it comes: chunk by chunk or in one piece. */
export class ChatAnswer {
  readonly #from: string;
  readonly #calls = new CallAssembler();
  #text = "";
  /** As `reasoning_content`, which some servers want back. */
  #reasoning = "";
  #details: Record<string, unknown>[] = [];
  #said: unknown;
  #refused = false;
  #model: string | undefined;
  #usage: ModelUsage | undefined;

  constructor(from: string) {
    this.#from = from;
  }

  /** The server gave a reason why it ended. */
  get hasEnded(): boolean {
    return this.#said !== undefined;
  }

  *take(chunk: unknown): Generator<ModelPart> {
    this.#note(chunk);
    // Usage comes by itself, in a chunk behind the last word.
    if (listIn(chunk, "choices").length === 0) return;
    const choice = onlyChoice(chunk);
    yield* this.#read(field(choice, "delta"), "stream");
    this.#said = field(choice, "finish_reason") ?? this.#said;
  }

  *takeWhole(answer: unknown): Generator<ModelPart> {
    this.#note(answer);
    const choice = onlyChoice(answer);
    const message = field(choice, "message");
    if (message === undefined) throw unusable();
    yield* this.#read(message, "whole");
    this.#said = field(choice, "finish_reason") ?? this.#said;
  }

  *end(): Generator<ModelPart> {
    const said = REASONS.get(this.#said ?? "stop") ?? "other";
    const calls = this.#calls.finish({ cutOff: said === "length" });
    yield* ending(calls, {
      reason: this.#refused ? "refusal" : said,
      model: this.#model,
      usage: this.#usage,
      opaque: calls === undefined ? undefined : this.#opaque(calls),
    });
  }

  #note(chunk: unknown): void {
    const model = textIn(chunk, "model");
    if (model !== "") this.#model = model;
    this.#usage = usageOf(chunk) ?? this.#usage;
  }

  *#read(message: unknown, how: "stream" | "whole"): Generator<ModelPart> {
    const content = contentOf(message, how);
    const echoed = textIn(message, "reasoning_content");
    const thought = echoed || textIn(message, "reasoning") || content.thought;
    this.#reasoning += echoed;
    if (thought !== "") yield { type: "reasoning", text: thought };
    for (const detail of listIn(message, "reasoning_details")) this.#addDetail(detail);
    this.#text += content.text;
    if (content.text !== "") yield { type: "text", text: content.text };
    if ((field(message, "refusal") ?? null) !== null) this.#refused = true;
    const pieces = field(message, "tool_calls") ?? [];
    if (!Array.isArray(pieces)) throw unusable();
    for (const [at, piece] of pieces.entries()) {
      const named = field(piece, "function");
      const given = field(named, "arguments");
      yield* this.#calls.add({
        index: how === "whole" ? at : numberIn(piece, "index"),
        id: textIn(piece, "id"),
        name: textIn(named, "name"),
        // Some servers send the object itself.
        text: isRecord(given) ? JSON.stringify(given) : textIn(named, "arguments"),
        extra: field(piece, "extra_content"),
      });
    }
  }

  /** Pieces of one detail come one after the other; signatures come with the last. */
  #addDetail(detail: unknown): void {
    if (!isRecord(detail)) return;
    const last = this.#details.at(-1);
    if (last === undefined || last.type !== detail.type || last.index !== detail.index) {
      this.#details.push({ ...detail });
      return;
    }
    for (const [name, value] of Object.entries(detail)) {
      const grows = name === "text" || name === "summary" || name === "data";
      last[name] = grows ? `${textIn(last, name)}${textIn(detail, name)}` : (value ?? last[name]);
    }
  }

  /**
   * DeepSeek wants its reasoning back with the calls it led to, and refuses it elsewhere; OpenRouter its details; Gemini
   * behind this API the signature of a call. As of November 2026.
   */
  #opaque(calls: readonly AssembledCall[]): OpaqueAnswer | undefined {
    const reasoning = calls.length > 0 && this.#reasoning !== "" ? this.#reasoning : undefined;
    const details = this.#details.length > 0 ? this.#details : undefined;
    const isPlain = calls.every(({ extra }) => extra === undefined);
    if (reasoning === undefined && details === undefined && isPlain) return undefined;
    const message = {
      role: "assistant",
      content: this.#text === "" && calls.length > 0 ? null : this.#text,
      ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      reasoning_content: reasoning,
      reasoning_details: details,
    };
    return { from: this.#from, json: JSON.stringify(message) };
  }
}

function wireCall({ id, name, arguments: given, extra }: AssembledCall): unknown {
  return { id, type: "function", function: { name, arguments: given }, extra_content: extra };
}

/** A text; in streams of some servers also parts, of which some are thoughts. */
function contentOf(
  message: unknown,
  how: "stream" | "whole",
): { readonly text: string; readonly thought: string } {
  const content = field(message, "content") ?? "";
  if (typeof content === "string") return { text: content, thought: "" };
  if (!Array.isArray(content) || how === "whole") throw unusable();
  const thoughts = content.flatMap((part) => listIn(part, "thinking"));
  return {
    text: content.map((part) => textIn(part, "text")).join(""),
    thought: thoughts.map((part) => textIn(part, "text")).join(""),
  };
}

const REASONS: ReadonlyMap<unknown, ModelFinish["reason"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "refusal"],
]);

function usageOf(answer: unknown): ModelUsage | undefined {
  const usage = field(answer, "usage");
  const inputTokens = numberIn(usage, "prompt_tokens");
  const completion = numberIn(usage, "completion_tokens");
  if (inputTokens === undefined || completion === undefined) return undefined;
  const details = field(usage, "prompt_tokens_details");
  // Some leave their reasoning out of the completion, and count it only in the total.
  const rest = (numberIn(usage, "total_tokens") ?? 0) - inputTokens;
  return {
    inputTokens,
    outputTokens: Math.max(completion, rest),
    cachedTokens: numberIn(details, "cached_tokens") ?? numberIn(usage, "prompt_cache_hit_tokens"),
    cacheWriteTokens: numberIn(details, "cache_write_tokens"),
    costUsd: numberIn(usage, "cost"),
  };
}

/** More than one was not asked for. */
function onlyChoice(answer: unknown): unknown {
  const choices = listIn(answer, "choices");
  if (choices.length !== 1) throw unusable();
  return choices[0];
}
