import type { CreateMessageRequest, CreateMessageResult } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { HermesConfig } from "../../config/types.js";
import { complete, type ModelAnswer, type ModelMessage, type ModelUsage } from "../../model/model-client.js";
import { chatCompletionsClient, completionsUrl } from "../../model/openai-chat.js";
import { type Content, text } from "../../tool/content.js";

const MOST_TOKENS = 4_096;
const TIMEOUT_MS = 30_000;
const PER_MINUTE = 10;
const LONGEST_ANSWER = 1024 * 1024;
const LONGEST_QUESTION = 512 * 1024;

/** Answers a server's wish to ask a model, with the model the configuration names. Throws what the server may know. */
export class Sampling {
  readonly #settings: () => HermesConfig["mcp"];
  #times: number[] = [];

  /** Settings may change; those of the moment count. */
  constructor(settings: () => HermesConfig["mcp"]) {
    this.#settings = settings;
  }

  get isOn(): boolean {
    return this.#settings().sampling;
  }

  async answer(
    params: CreateMessageRequest["params"],
    options: {
      readonly signal: AbortSignal;
      /** Told what the answer took. */
      onUsage?(usage: ModelUsage, model: string): void;
    },
  ): Promise<CreateMessageResult> {
    if (!this.isOn) throw new Error("sampling is switched off (mcp.sampling)");
    const { sampling_url, sampling_model: model, sampling_api_key: apiKey } = this.#settings();
    const url = sampling_url.trim();
    if (completionsUrl(url) === undefined)
      throw new Error("no model is set up for sampling (mcp.sampling_url)");
    this.#count();
    const messages = messagesOf(params);
    if (JSON.stringify(messages).length > LONGEST_QUESTION) throw new Error("the question is too long");
    const client = chatCompletionsClient({ url, model, apiKey, stream: false, maxBytes: LONGEST_ANSWER });
    const answer = await complete(client, {
      messages,
      maxTokens: Math.max(1, Math.min(MOST_TOKENS, Math.floor(params.maxTokens))),
      temperature: params.temperature,
      stop: params.stopSequences?.slice(0, 4),
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (answer.usage !== undefined) options.onUsage?.(answer.usage, model);
    return resultFrom(answer);
  }

  #count(): void {
    const now = Date.now();
    this.#times = this.#times.filter((at) => now - at < 60_000);
    if (this.#times.length >= PER_MINUTE) throw new Error(`no more than ${PER_MINUTE} questions a minute`);
    this.#times.push(now);
  }
}

function messagesOf({ systemPrompt, messages }: CreateMessageRequest["params"]): readonly ModelMessage[] {
  const asked = messages.map(({ role, content }): ModelMessage => {
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
    const parts = blocks.filter(isRecord).map(partOf);
    if (role === "user") return { role, content: parts };
    return {
      role,
      content: parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n"),
    };
  });
  return systemPrompt === undefined ? asked : [{ role: "system", content: systemPrompt }, ...asked];
}

/** What a model can read of it: text and images, and the name of everything else. */
function partOf({ type, text: words, data, mimeType }: Record<string, unknown>): Content {
  if (type === "text" && typeof words === "string") return text(words);
  if (type === "image" && typeof data === "string" && typeof mimeType === "string")
    return { type, data, mimeType };
  return text(`[${String(type)}]`);
}

function resultFrom({ text: words, reason, model = "unknown" }: ModelAnswer): CreateMessageResult {
  if (words === "" && reason !== "stop") throw new Error("the model's server sent no answer");
  return {
    model,
    role: "assistant",
    content: { type: "text", text: words },
    stopReason: reason === "length" ? "maxTokens" : "endTurn",
  };
}
