import { isRecord } from "../base/record.js";
import { type AssembledCall, CallAssembler, ending } from "./assemble-calls.js";
import type { ModelFinish, ModelPart, ModelUsage, OpaqueAnswer } from "./model-client.js";
import { argumentsText, field, listIn, numberIn, textIn, unusable } from "./wire.js";

/** What was sent of a block so far; a call's arguments are put together elsewhere. */
type Block = Record<string, unknown>;

/** One answer of the Messages API, event by event or in one piece. */
export class AnthropicAnswer {
  readonly #from: string;
  readonly #blocks = new Map<number, Block>();
  readonly #calls = new CallAssembler();
  #stop = "";
  #model: string | undefined;
  #usage: Record<string, unknown> = {};

  constructor(from: string) {
    this.#from = from;
  }

  get hasEnded(): boolean {
    return this.#stop !== "";
  }

  *take(event: unknown): Generator<ModelPart> {
    const index = numberIn(event, "index") ?? 0;
    switch (textIn(event, "type")) {
      case "message_start":
        this.#note(field(event, "message"));
        return;
      case "content_block_start":
        yield* this.#start(index, field(event, "content_block"));
        return;
      case "content_block_delta":
        yield* this.#grow(index, field(event, "delta"));
        return;
      case "message_delta":
        this.#stop = textIn(field(event, "delta"), "stop_reason") || this.#stop;
        this.#note(event);
    }
  }

  *takeWhole(message: unknown): Generator<ModelPart> {
    if (textIn(message, "type") !== "message") throw unusable();
    this.#note(message);
    for (const [index, block] of listIn(message, "content").entries()) yield* this.#start(index, block);
    this.#stop = textIn(message, "stop_reason") || "end_turn";
  }

  *end(): Generator<ModelPart> {
    const reason = REASONS[this.#stop] ?? "other";
    const calls = this.#calls.finish({ cutOff: reason === "length" });
    yield* ending(calls, {
      reason,
      model: this.#model,
      usage: usageOf(this.#usage),
      opaque: calls === undefined ? undefined : this.#opaque(calls),
    });
  }

  #note(message: unknown): void {
    this.#model = textIn(message, "model") || this.#model;
    const usage = field(message, "usage");
    // What comes later is the whole count, not what came on top.
    if (isRecord(usage)) this.#usage = { ...this.#usage, ...usage };
  }

  *#start(index: number, block: unknown): Generator<ModelPart> {
    if (!isRecord(block)) throw unusable();
    this.#blocks.set(index, { ...block });
    const { type } = block;
    if (type === "tool_use") {
      const input = field(block, "input");
      const given = isRecord(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
      yield* this.#calls.add({ index, id: textIn(block, "id"), name: textIn(block, "name"), text: given });
    }
    const text = textIn(block, "text");
    if (type === "text" && text !== "") yield { type: "text", text };
    const thinking = textIn(block, "thinking");
    if (type === "thinking" && thinking !== "") yield { type: "reasoning", text: thinking };
  }

  *#grow(index: number, delta: unknown): Generator<ModelPart> {
    const block = this.#blocks.get(index);
    if (block === undefined) throw unusable();
    switch (textIn(delta, "type")) {
      case "text_delta": {
        const text = append(block, "text", delta);
        if (text !== "") yield { type: "text", text };
        return;
      }
      case "thinking_delta": {
        const text = append(block, "thinking", delta);
        if (text !== "") yield { type: "reasoning", text };
        return;
      }
      case "signature_delta":
        append(block, "signature", delta);
        return;
      case "input_json_delta":
        yield* this.#calls.add({ index, text: textIn(delta, "partial_json") });
    }
  }

  /** Where the model has thought, or used what its server runs: all blocks in their order, signatures as they came. */
  #opaque(calls: readonly AssembledCall[]): OpaqueAnswer | undefined {
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    if (blocks.every(({ type }) => type === "text" || type === "tool_use")) return undefined;
    const waiting = [...calls];
    const written = blocks.flatMap((block) => {
      if (block.type !== "tool_use") return block.text === "" ? [] : [JSON.stringify(block)];
      const call = waiting.shift();
      return call === undefined ? [] : [toolUse(call)];
    });
    return written.length === 0 ? undefined : { from: this.#from, json: `[${written.join(",")}]` };
  }
}

/** The arguments stay the text the model wrote. */
export function toolUse(call: {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}): string {
  const head = JSON.stringify({ type: "tool_use", id: call.id, name: call.name });
  return `${head.slice(0, -1)},"input":${argumentsText(call.arguments)}}`;
}

function append(block: Block, name: string, delta: unknown): string {
  const text = textIn(delta, name);
  block[name] = `${textIn(block, name)}${text}`;
  return text;
}

const REASONS: Readonly<Record<string, ModelFinish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "refusal",
};

/** Here what is kept or was kept is not part of the input; with us it is. */
function usageOf(usage: unknown): ModelUsage | undefined {
  const fresh = numberIn(usage, "input_tokens");
  const outputTokens = numberIn(usage, "output_tokens");
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const cachedTokens = numberIn(usage, "cache_read_input_tokens");
  const cacheWriteTokens = numberIn(usage, "cache_creation_input_tokens");
  return {
    inputTokens: fresh + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens,
    cachedTokens,
    cacheWriteTokens,
  };
}
