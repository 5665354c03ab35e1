import type { CreateMessageRequest, CreateMessageResult } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { HermesConfig } from "../../config/types.js";
import { completionsUrl } from "../../policy/reviewer/endpoint.js";

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

  async answer(params: CreateMessageRequest["params"], signal: AbortSignal): Promise<CreateMessageResult> {
    if (!this.isOn) throw new Error("sampling is switched off (mcp.sampling)");
    const { sampling_url: address, sampling_model: model, sampling_api_key: key } = this.#settings();
    const url = completionsUrl(address.trim());
    if (url === undefined) throw new Error("no model is set up for sampling (mcp.sampling_url)");
    this.#count();
    const body = JSON.stringify(requestFor(params, model));
    if (body.length > LONGEST_QUESTION) throw new Error("the question is too long");
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(key !== "" && { authorization: `Bearer ${key}` }),
      },
      body,
      // A redirect could carry the key and the question to somebody else.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`the model's server answered ${response.status}`);
    }
    return resultFrom(await limitedJson(response));
  }

  #count(): void {
    const now = Date.now();
    this.#times = this.#times.filter((at) => now - at < 60_000);
    if (this.#times.length >= PER_MINUTE) throw new Error(`no more than ${PER_MINUTE} questions a minute`);
    this.#times.push(now);
  }
}

function requestFor(params: CreateMessageRequest["params"], model: string) {
  const { systemPrompt, maxTokens, temperature, stopSequences } = params;
  return {
    model,
    messages: [
      ...(systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }]),
      ...params.messages.map(({ role, content }) => ({ role, content: wordsOf(content) })),
    ],
    max_tokens: Math.max(1, Math.min(MOST_TOKENS, Math.floor(maxTokens))),
    stream: false,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stop: stopSequences.slice(0, 4) }),
  };
}

function wordsOf(content: unknown): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => {
      if (isRecord(block) && block.type === "text" && typeof block.text === "string") return block.text;
      return isRecord(block) ? `[${String(block.type)}]` : "";
    })
    .join("\n");
}

async function limitedJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > LONGEST_ANSWER) throw new Error("the model's answer was too large");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function resultFrom(answer: unknown): CreateMessageResult {
  const choices = isRecord(answer) && Array.isArray(answer.choices) ? (answer.choices as unknown[]) : [];
  const [choice] = choices;
  const message = isRecord(choice) ? choice.message : undefined;
  if (!isRecord(choice) || !isRecord(message) || typeof message.content !== "string")
    throw new Error("the model's server sent no answer");
  return {
    model: isRecord(answer) && typeof answer.model === "string" ? answer.model : "unknown",
    role: "assistant",
    content: { type: "text", text: message.content },
    stopReason: choice.finish_reason === "length" ? "maxTokens" : "endTurn",
  };
}
