import { type Content, textOf } from "../tool/content.js";
import { ChatAnswer } from "./chat-answer.js";
import { eventData } from "./event-stream.js";
import type { ModelClient, ModelMessage, ModelPart, ModelRequest } from "./model-client.js";
import { ask, type ConnectionOptions, endpoint, whole } from "./post.js";
import { streamedError } from "./server-error.js";
import { argumentsText, bodyText, brokenOff, field, parsed } from "./wire.js";

export interface ChatCompletionsOptions extends ConnectionOptions {
  /** Base address of an OpenAI-compatible server, as the operator configured it; it may be a local one. */
  readonly url: string;
  /** Whose model it is, for answers that go back as they came. */
  readonly provider?: string | undefined;
  /** False asks for the answer in one piece. */
  readonly stream?: boolean | undefined;
}

/** Which of the fields that servers differ in are sent. */
interface Dialect {
  readonly jsonMode: boolean;
  readonly limitField: "max_tokens" | "max_completion_tokens";
  readonly streamUsage: boolean;
  readonly temperature: boolean;
  /** Reasoning goes back with the calls it led to. */
  readonly echo: boolean;
}

/** A model behind the chat completions API. Throws a ModelError when it is asked and the address is none. */
export function chatCompletionsClient(options: ChatCompletionsOptions): ModelClient {
  const { apiKey, maxBytes, idleMs, proxy } = options;
  const url = completionsUrl(options.url);
  const from = `${options.provider ?? "openai"}:${options.model}`;
  const stream = options.stream !== false;
  /** What the server turned out to know is kept for the next time. */
  let dialect: Dialect = {
    jsonMode: true,
    limitField: "max_tokens",
    streamUsage: true,
    temperature: true,
    echo: true,
  };
  return {
    stream: (request) =>
      ask<ModelPart>(
        () => ({
          url,
          headers: apiKey === undefined || apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
          body: () => bodyOf(request, { dialect, stream, from, model: options.model }),
          signal: request.signal,
          maxBytes,
          idleMs,
          proxy,
          retryOtherwise(status, complaint) {
            const other = otherDialect({ status, complaint, request, dialect, stream });
            dialect = other ?? dialect;
            return other !== undefined;
          },
        }),
        ({ isStream, body }) => (isStream ? readStream(body, from) : readWhole(body, from)),
      ),
  };
}

/** Where to post: a base address with or without its version, or the whole address. Undefined if it is no web address. */
export function completionsUrl(configured: string): string | undefined {
  return endpoint(configured, { version: "v1", path: "/chat/completions" });
}

interface Sent {
  readonly dialect: Dialect;
  readonly stream: boolean;
}

function bodyOf(
  request: ModelRequest,
  { model, from, dialect, stream }: Sent & { readonly model: string; readonly from: string },
): string {
  const { tools = [], maxTokens, temperature, stop, json } = request;
  return bodyText(
    {
      model,
      stream,
      stream_options: stream && dialect.streamUsage ? { include_usage: true } : undefined,
      tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: "function", function: tool })),
      temperature: dialect.temperature ? temperature : undefined,
      stop,
      [dialect.limitField]: maxTokens,
      response_format: json === true && dialect.jsonMode ? { type: "json_object" } : undefined,
    },
    {
      messages: request.messages.map((message) =>
        message.role === "assistant" && message.opaque?.from === from && dialect.echo
          ? message.opaque.json
          : JSON.stringify(wireMessage(message)),
      ),
    },
  );
}

function wireMessage(message: ModelMessage): unknown {
  switch (message.role) {
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: plain(message.content) };
    case "assistant":
      return message.toolCalls === undefined || message.toolCalls.length === 0
        ? { role: "assistant", content: message.content }
        : {
            role: "assistant",
            content: message.content === "" ? null : message.content,
            tool_calls: message.toolCalls.map(({ id, name, arguments: given }) => ({
              id,
              type: "function",
              function: { name, arguments: argumentsText(given) },
            })),
          };
    case "user":
      return { role: "user", content: wireContent(message.content) };
    default:
      return message;
  }
}

function plain(content: string | readonly Content[]): string {
  return typeof content === "string" ? content : textOf(content);
}

/** One text where that is all: not every server takes parts. */
function wireContent(content: string | readonly Content[]): unknown {
  if (typeof content === "string" || !content.some((part) => part.type === "image")) return plain(content);
  return content.map((part) =>
    part.type === "image"
      ? { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }
      : { type: "text", text: textOf([part]) },
  );
}

/** Some servers refuse a field they do not know; only what they name is left out, and what nobody asked for. */
function otherDialect(
  refused: Sent & { readonly status: number; readonly complaint: string; readonly request: ModelRequest },
): Dialect | undefined {
  const { status, complaint, request, dialect, stream } = refused;
  if (status !== 400 && status !== 422) return undefined;
  const limits = request.maxTokens !== undefined && dialect.limitField === "max_tokens";
  if (limits && complaint.includes("max_completion_tokens"))
    return { ...dialect, limitField: "max_completion_tokens" };
  if (stream && dialect.streamUsage && complaint.includes("stream_options"))
    return { ...dialect, streamUsage: false };
  if (request.temperature !== undefined && dialect.temperature && complaint.includes("temperature"))
    return { ...dialect, temperature: false };
  if (dialect.echo && /reasoning_(?:content|details)|extra_content/.test(complaint))
    return { ...dialect, echo: false };
  return request.json === true && dialect.jsonMode ? { ...dialect, jsonMode: false } : undefined;
}

async function* readWhole(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new ChatAnswer(from);
  yield* answer.takeWhole(parsed(await whole(body)));
  yield* answer.end();
}

async function* readStream(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new ChatAnswer(from);
  let done = false;
  for await (const data of eventData(body)) {
    done = data.trim() === "[DONE]";
    if (done) break;
    const chunk = parsed(data);
    const error = field(chunk, "error") ?? null;
    if (error !== null) throw streamedError(error);
    yield* answer.take(chunk);
  }
  if (!done && !answer.hasEnded) throw brokenOff();
  yield* answer.end();
}
