import { isRecord } from "../base/record.js";
import { type AssembledCall, ending, mintCallId } from "./assemble-calls.js";
import type { ModelFinish, ModelPart, ModelUsage, OpaqueAnswer } from "./model-client.js";
import { field, listIn, numberIn, textIn, unusable } from "./wire.js";

/** One answer of the generateContent API, chunk by chunk. Its calls come whole, mostly without ids. */
export class GeminiAnswer {
  readonly #from: string;
  readonly #parts: Record<string, unknown>[] = [];
  readonly #calls: AssembledCall[] = [];
  #said = "";
  #model: string | undefined;
  #usage: ModelUsage | undefined;

  constructor(from: string) {
    this.#from = from;
  }

  get hasEnded(): boolean {
    return this.#said !== "";
  }

  *take(chunk: unknown): Generator<ModelPart> {
    this.#model = textIn(chunk, "modelVersion") || this.#model;
    this.#usage = usageOf(chunk) ?? this.#usage;
    // A question that was not let through has no candidate.
    if (textIn(field(chunk, "promptFeedback"), "blockReason") !== "") this.#said = "SAFETY";
    const [candidate] = listIn(chunk, "candidates");
    for (const part of listIn(field(candidate, "content"), "parts")) yield* this.#take(part);
    this.#said = textIn(candidate, "finishReason") || this.#said;
  }

  *end(): Generator<ModelPart> {
    const reason = REASONS[this.#said] ?? "other";
    yield* ending(this.#calls, {
      reason,
      model: this.#model,
      usage: this.#usage,
      opaque: this.#opaque(),
    });
  }

  *#take(part: unknown): Generator<ModelPart> {
    if (!isRecord(part)) throw unusable();
    this.#keep(part);
    const text = textIn(part, "text");
    if (text !== "") yield { type: part.thought === true ? "reasoning" : "text", text };
    const call = field(part, "functionCall");
    if (call === undefined) return;
    const name = textIn(call, "name");
    if (name === "") throw unusable();
    const given = textIn(call, "id");
    const isTaken = this.#calls.some(({ id }) => id === given);
    const id = given === "" || isTaken ? mintCallId() : given;
    this.#calls.push({ id, name, arguments: JSON.stringify(field(call, "args") ?? {}) });
    yield { type: "tool_call_begun", id, name };
  }

  /** Pieces of plain text grow together; a part with a signature stays what it was, also an empty one. */
  #keep(part: Record<string, unknown>): void {
    const last = this.#parts.at(-1);
    const isText = (one: Record<string, unknown>) =>
      typeof one.text === "string" && !("thoughtSignature" in one);
    if (last !== undefined && isText(last) && isText(part) && last.thought === part.thought)
      last.text = `${textIn(last, "text")}${textIn(part, "text")}`;
    else this.#parts.push({ ...part });
  }

  /** Thoughts themselves are not wanted back; their signatures are, on the parts they came with. */
  #opaque(): OpaqueAnswer | undefined {
    if (!this.#parts.some((part) => "thoughtSignature" in part)) return undefined;
    const kept = this.#parts.filter((part) => part.thought !== true || "thoughtSignature" in part);
    return { from: this.#from, json: JSON.stringify(kept) };
  }
}

const REASONS: Readonly<Record<string, ModelFinish["reason"]>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "refusal",
  RECITATION: "refusal",
  LANGUAGE: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
};

/** Thoughts are billed as output, and counted apart from it. */
function usageOf(chunk: unknown): ModelUsage | undefined {
  const usage = field(chunk, "usageMetadata");
  const prompt = numberIn(usage, "promptTokenCount");
  if (prompt === undefined) return undefined;
  const answered = numberIn(usage, "candidatesTokenCount") ?? 0;
  const thoughts = numberIn(usage, "thoughtsTokenCount") ?? 0;
  return {
    inputTokens: prompt + (numberIn(usage, "toolUsePromptTokenCount") ?? 0),
    outputTokens: answered + thoughts,
    cachedTokens: numberIn(usage, "cachedContentTokenCount"),
  };
}
