import { guardedFetch } from "../net/fetch.js";
import type { IncomingCall } from "../tool/call.js";
import { type Content, textOf } from "../tool/content.js";
import { ToolError } from "../tool/errors.js";
import type { FetchResponse } from "../tool/fetch.js";
import { eventData } from "./event-stream.js";
import {
  type ModelClient,
  ModelError,
  type ModelFinish,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  type ModelUsage,
} from "./model-client.js";

export interface ChatCompletionsOptions {
  /** Base address of an OpenAI-compatible server, as the operator configured it; it may be a local one. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** False asks for the answer in one piece. */
  readonly stream?: boolean | undefined;
  /** Bytes of one answer. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Which of the fields that servers differ in are sent. */
interface Dialect {
  readonly jsonMode: boolean;
  readonly limitField: "max_tokens" | "max_completion_tokens";
  readonly streamUsage: boolean;
}

/** A model behind the chat completions API. Throws a ModelError when it is asked and the address is none. */
export function chatCompletionsClient(options: ChatCompletionsOptions): ModelClient {
  const url = completionsUrl(options.url);
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  /** What the server turned out to know is kept for the next time. */
  let dialect: Dialect = { jsonMode: true, limitField: "max_tokens", streamUsage: true };
  return {
    async *stream(request) {
      if (url === undefined)
        throw new ModelError("unreachable", "the model's address is not an http or https address");
      for (;;) {
        const sent = { dialect, stream: options.stream !== false };
        const response = await post(url, {
          body: bodyOf(request, { ...sent, model: options.model }),
          apiKey: options.apiKey,
          signal: request.signal,
        });
        try {
          const body = limited(response.body, maxBytes);
          if (response.status !== 200) {
            const other = otherDialect(response.status, { request, ...sent, complaint: await whole(body) });
            if (other === undefined)
              throw new ModelError(
                "status",
                `the model's server answered ${response.status}`,
                response.status,
              );
            dialect = other;
            continue;
          }
          const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
          yield* isStream ? readStream(body) : readWhole(await whole(body));
          return;
        } catch (error) {
          throw readable(error, request.signal);
        } finally {
          await response.close();
        }
      }
    },
  };
}

/** Where to post: a base address with or without its version, or the whole address. Undefined if it is no web address. */
export function completionsUrl(configured: string): string | undefined {
  if (!URL.canParse(configured)) return undefined;
  const url = new URL(configured);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/chat/completions")) {
    const versioned = /\/v\d+\w*(?:\/|$)/.test(path) ? path : `${path}/v1`;
    url.pathname = `${versioned}/chat/completions`;
  }
  url.hash = "";
  return url.href;
}

async function post(
  url: string,
  sent: {
    readonly body: string;
    readonly apiKey: string | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<FetchResponse> {
  const { body, apiKey, signal } = sent;
  try {
    return await guardedFetch({
      url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(apiKey !== undefined && apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal,
      // Counted where the answer is read, which has its own word for it.
      maxBytes: Number.POSITIVE_INFINITY,
      // A redirect could carry the key and the question to somebody else.
      followRedirects: false,
      // The operator has named this address; it may be on this machine.
      rules: { allowPrivate: true },
    });
  } catch (error) {
    throw readable(error, signal);
  }
}

/** Messages of a failed request could quote what was sent: only a short name of what went wrong is told. */
function readable(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (ModelError.isInstance(error)) return error;
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const code = ToolError.isInstance(inner)
      ? (inner.details?.errno ?? inner.code)
      : "code" in inner && inner.code;
    if (typeof code === "string") return new ModelError("unreachable", `the model's server failed (${code})`);
  }
  const name = error instanceof Error ? error.name : "unknown";
  return new ModelError("unreachable", `the model's server failed (${name})`);
}

interface Sent {
  readonly dialect: Dialect;
  readonly stream: boolean;
}

function bodyOf(
  request: ModelRequest,
  { model, dialect, stream }: Sent & { readonly model: string },
): string {
  const { tools = [], maxTokens, temperature, stop, json } = request;
  return JSON.stringify({
    model,
    messages: request.messages.map(wireMessage),
    stream,
    stream_options: stream && dialect.streamUsage ? { include_usage: true } : undefined,
    tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: "function", function: tool })),
    temperature,
    stop,
    [dialect.limitField]: maxTokens,
    response_format: json === true && dialect.jsonMode ? { type: "json_object" } : undefined,
  });
}

function wireMessage(message: ModelMessage): unknown {
  switch (message.role) {
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
    case "assistant":
      return message.toolCalls === undefined || message.toolCalls.length === 0
        ? { role: "assistant", content: message.content }
        : {
            role: "assistant",
            content: message.content === "" ? null : message.content,
            tool_calls: message.toolCalls.map(wireCall),
          };
    case "user":
      return { role: "user", content: wireContent(message.content) };
    default:
      return message;
  }
}

function wireCall({ id, name, arguments: given }: IncomingCall): unknown {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { id, type: "function", function: { name, arguments: text } };
}

/** One text where that is all: not every server takes parts. */
function wireContent(content: string | readonly Content[]): unknown {
  if (typeof content === "string" || !content.some((part) => part.type === "image"))
    return typeof content === "string" ? content : textOf(content);
  return content.map((part) =>
    part.type === "image"
      ? { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }
      : { type: "text", text: textOf([part]) },
  );
}

/** Some servers refuse a field they do not know; only what they name is left out, and what nobody asked for. */
function otherDialect(
  status: number,
  {
    request,
    dialect,
    stream,
    complaint,
  }: Sent & { readonly request: ModelRequest; readonly complaint: string },
): Dialect | undefined {
  if (status !== 400 && status !== 422) return undefined;
  const limits = request.maxTokens !== undefined && dialect.limitField === "max_tokens";
  if (limits && complaint.includes("max_completion_tokens"))
    return { ...dialect, limitField: "max_completion_tokens" };
  if (stream && dialect.streamUsage && complaint.includes("stream_options"))
    return { ...dialect, streamUsage: false };
  return request.json === true && dialect.jsonMode ? { ...dialect, jsonMode: false } : undefined;
}

async function* limited(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new ModelError("too_large", "the model's answer was too large");
    yield chunk;
  }
}

async function whole(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function* readWhole(text: string): Generator<ModelPart> {
  const answer = parsed(text);
  const choice = onlyChoice(answer);
  const message = field(choice, "message");
  const content = field(message, "content") ?? "";
  const calls = field(message, "tool_calls") ?? [];
  if (choice === undefined || message === undefined || typeof content !== "string" || !Array.isArray(calls))
    throw unusable();
  if (content !== "") yield { type: "text", text: content };
  const collected = new ToolCalls();
  calls.forEach((call, index) => {
    collected.add(call, index);
  });
  yield* collected.parts();
  const refused = (field(message, "refusal") ?? null) !== null;
  yield finishOf({ said: field(choice, "finish_reason"), refused, called: calls.length > 0, answer });
}

async function* readStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ModelPart> {
  const calls = new ToolCalls();
  let said: unknown;
  let refused = false;
  let ended = false;
  let answer: unknown;
  for await (const data of eventData(body)) {
    if (data.trim() === "[DONE]") {
      ended = true;
      break;
    }
    const chunk = parsed(data);
    if (field(chunk, "error") !== undefined) throw unusable();
    // Usage comes by itself, in a chunk behind the last word.
    if (answer === undefined || usageOf(chunk) !== undefined) answer = chunk;
    const choices = field(chunk, "choices");
    if (!Array.isArray(choices) || choices.length === 0) continue;
    const choice = onlyChoice(chunk);
    const delta = field(choice, "delta");
    const text = field(delta, "content") ?? "";
    if (typeof text !== "string") throw unusable();
    if (text !== "") yield { type: "text", text };
    if ((field(delta, "refusal") ?? null) !== null) refused = true;
    const pieces = field(delta, "tool_calls") ?? [];
    if (!Array.isArray(pieces)) throw unusable();
    for (const piece of pieces) calls.add(piece, field(piece, "index"));
    said = field(choice, "finish_reason") ?? said;
    if (said !== undefined) ended = true;
  }
  if (!ended) throw new ModelError("bad_answer", "the model's answer broke off");
  yield* calls.parts();
  yield finishOf({ said, refused, called: calls.size > 0, answer });
}

/** Calls as they are put together: in a stream, the pieces of several may come mixed, told apart by index. */
class ToolCalls {
  readonly #calls = new Map<number, { id: string; name: string; text: string }>();

  get size(): number {
    return this.#calls.size;
  }

  add(piece: unknown, index: unknown): void {
    const at = typeof index === "number" ? index : this.#calls.size;
    const call = this.#calls.get(at) ?? { id: "", name: "", text: "" };
    this.#calls.set(at, call);
    const named = field(piece, "function");
    call.id ||= textIn(piece, "id");
    call.name ||= textIn(named, "name");
    const given = field(named, "arguments");
    // Some servers send the object itself.
    call.text +=
      typeof given === "object" && given !== null ? JSON.stringify(given) : textIn(named, "arguments");
  }

  *parts(): Generator<ModelPart> {
    for (const [index, { id, name, text }] of [...this.#calls].sort(([a], [b]) => a - b)) {
      if (name === "") throw unusable();
      yield {
        type: "tool_call",
        call: { id: id === "" ? `call_${index + 1}` : id, name, arguments: text === "" ? "{}" : text },
      };
    }
  }
}

const REASONS: ReadonlyMap<unknown, ModelFinish["reason"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "refusal"],
]);

function finishOf(ending: {
  /** What the server gave as the reason. */
  readonly said: unknown;
  readonly refused: boolean;
  readonly called: boolean;
  /** What holds the model's name and the usage. */
  readonly answer: unknown;
}): ModelFinish {
  const { said, refused, called, answer } = ending;
  const unsaid = called ? "tool_calls" : "stop";
  const reason = said === undefined || said === null ? unsaid : (REASONS.get(said) ?? "other");
  const model = textIn(answer, "model");
  return {
    type: "finish",
    reason: refused ? "refusal" : called && reason === "stop" ? "tool_calls" : reason,
    model: model === "" ? undefined : model,
    usage: usageOf(answer),
  };
}

function usageOf(answer: unknown): ModelUsage | undefined {
  const usage = field(answer, "usage");
  const inputTokens = field(usage, "prompt_tokens");
  const outputTokens = field(usage, "completion_tokens");
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  const cached = field(field(usage, "prompt_tokens_details"), "cached_tokens");
  return { inputTokens, outputTokens, cachedTokens: typeof cached === "number" ? cached : undefined };
}

/** More than one was not asked for. */
function onlyChoice(answer: unknown): unknown {
  const choices = field(answer, "choices");
  if (!Array.isArray(choices) || choices.length !== 1) throw unusable();
  return choices[0];
}

function unusable(): ModelError {
  return new ModelError("bad_answer", "the model's server sent no usable answer");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable();
  }
}

function textIn(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
