import { type Content, textOf } from "../tool/content.js";
import { AnthropicAnswer, toolUse } from "./anthropic-answer.js";
import { eventData } from "./event-stream.js";
import type { ModelClient, ModelMessage, ModelPart, ModelRequest } from "./model-client.js";
import { ask, type ConnectionOptions, endpoint, whole } from "./post.js";
import { streamedError } from "./server-error.js";
import { bodyText, brokenOff, field, parsed, systemApart, textIn } from "./wire.js";

export interface AnthropicOptions extends ConnectionOptions {
  /** Base address; Anthropic's own when left out. */
  readonly url?: string | undefined;
}

export const ANTHROPIC_URL = "https://api.anthropic.com";
const VERSION = "2023-06-01";
/** The API wants a limit. A model that cannot write so much says how much it can, and is asked again. */
const MOST_TOKENS = 32_000;

/** A model behind Anthropic's Messages API. */
export function anthropicClient(options: AnthropicOptions): ModelClient {
  const { model, apiKey, maxBytes, idleMs, proxy } = options;
  const url = endpoint(options.url ?? ANTHROPIC_URL, { version: "v1", path: "/messages" });
  const from = `anthropic:${model}`;
  let mostTokens = MOST_TOKENS;
  return {
    stream: (request) =>
      ask<ModelPart>(
        () => ({
          url,
          headers: { "anthropic-version": VERSION, ...(apiKey && { "x-api-key": apiKey }) },
          body: () => bodyOf(request, { model, from, mostTokens }),
          signal: request.signal,
          maxBytes,
          idleMs,
          proxy,
          retryOtherwise(status, complaint) {
            const limit = Number(/max_tokens: \d+ > (\d+)/.exec(complaint)?.[1] ?? 0);
            const isLower = status === 400 && limit > 0 && limit < mostTokens;
            if (isLower) mostTokens = limit;
            return isLower;
          },
        }),
        ({ isStream, body }) => (isStream ? readStream(body, from) : readWhole(body, from)),
      ),
  };
}

/** Marks where what the server keeps for the next time may end. */
const KEPT = '"cache_control":{"type":"ephemeral"}';

function bodyOf(
  request: ModelRequest,
  sent: { readonly model: string; readonly from: string; readonly mostTokens: number },
): string {
  const { tools = [], temperature, stop, maxTokens } = request;
  const { system, rest } = systemApart(request.messages);
  return bodyText(
    {
      model: sent.model,
      stream: true,
      max_tokens: Math.min(maxTokens ?? sent.mostTokens, sent.mostTokens),
      temperature,
      stop_sequences: stop,
      tools:
        tools.length === 0
          ? undefined
          : tools.map(({ name, description, parameters }) => ({
              name,
              description,
              input_schema: parameters,
            })),
    },
    {
      ...(system !== "" && { system: [kept(textBlock(system))] }),
      messages: wireMessages(rest, sent.from),
    },
  );
}

/** One message of the API: what a side says between two words of the other. */
interface Side {
  readonly role: "user" | "assistant";
  /** JSON texts of blocks. */
  readonly blocks: string[];
}

/**
 * Results of one answer's calls go into one message, before anything else. The last two messages of the person's side
 * are marked to be kept: the next request is the same up to there.
 */
function wireMessages(messages: readonly ModelMessage[], from: string): string[] {
  const sides: Side[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = blocksOf(message, from);
    if (blocks.length === 0) continue;
    const last = sides.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else sides.push({ role, blocks });
  }
  for (const side of sides.filter(({ role }) => role === "user").slice(-2)) {
    const last = side.blocks.pop();
    if (last !== undefined) side.blocks.push(kept(last));
  }
  return sides.map(({ role, blocks }) => `{"role":"${role}","content":[${blocks.join(",")}]}`);
}

function kept(block: string): string {
  return `${block.slice(0, -1)},${KEPT}}`;
}

function blocksOf(message: ModelMessage, from: string): string[] {
  switch (message.role) {
    case "assistant": {
      const { opaque, content, toolCalls = [] } = message;
      // A list of blocks; its brackets are those of the message.
      if (opaque?.from === from) return [opaque.json.slice(1, -1)];
      const said = content === "" ? [] : [textBlock(content)];
      return [...said, ...toolCalls.map(toolUse)];
    }
    case "tool": {
      const { toolCallId, content, isError } = message;
      const parts = typeof content === "string" ? content : content.map(contentBlock);
      return [
        JSON.stringify({
          type: "tool_result",
          tool_use_id: toolCallId,
          content: parts.length === 0 ? undefined : parts,
          is_error: isError === true ? true : undefined,
        }),
      ];
    }
    default: {
      const { content } = message;
      if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
      return content.map((part) => JSON.stringify(contentBlock(part)));
    }
  }
}

function textBlock(text: string): string {
  return JSON.stringify({ type: "text", text });
}

function contentBlock(part: Content): unknown {
  if (part.type !== "image") return { type: "text", text: textOf([part]) || " " };
  return { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } };
}

async function* readWhole(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new AnthropicAnswer(from);
  yield* answer.takeWhole(parsed(await whole(body)));
  yield* answer.end();
}

async function* readStream(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new AnthropicAnswer(from);
  for await (const data of eventData(body)) {
    const event = parsed(data);
    const type = textIn(event, "type");
    if (type === "error") throw streamedError(field(event, "error"));
    if (type === "message_stop") break;
    yield* answer.take(event);
  }
  if (!answer.hasEnded) throw brokenOff();
  yield* answer.end();
}
