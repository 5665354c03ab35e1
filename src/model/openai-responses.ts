import { type Content, textOf } from "../tool/content.js";
import { eventData } from "./event-stream.js";
import type { ModelClient, ModelMessage, ModelPart, ModelRequest } from "./model-client.js";
import { ask, type ConnectionOptions, endpoint, whole } from "./post.js";
import { ResponsesAnswer } from "./responses-answer.js";
import { argumentsText, bodyText, brokenOff, parsed, systemApart } from "./wire.js";

export interface ResponsesOptions extends ConnectionOptions {
  /** Base address; OpenAI's own when left out. */
  readonly url?: string | undefined;
}

export const OPENAI_URL = "https://api.openai.com/v1";

/** What not every model behind the API takes. */
interface Dialect {
  /** Reasoning comes in a form that can go back; the server keeps nothing. */
  readonly encrypted: boolean;
  /** A summary of the reasoning is told. */
  readonly summary: boolean;
  readonly temperature: boolean;
}

/** A model behind OpenAI's Responses API. The server is asked to keep nothing: what it needs goes back each time. */
export function responsesClient(options: ResponsesOptions): ModelClient {
  const { model, apiKey, maxBytes, idleMs, proxy } = options;
  const url = endpoint(options.url ?? OPENAI_URL, { version: "v1", path: "/responses" });
  const from = `responses:${model}`;
  let dialect: Dialect = { encrypted: true, summary: true, temperature: true };
  return {
    stream: (request) =>
      ask<ModelPart>(
        () => ({
          url,
          headers: apiKey === undefined || apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
          body: () => bodyOf(request, { model, from, dialect }),
          signal: request.signal,
          maxBytes,
          idleMs,
          proxy,
          retryOtherwise(status, complaint) {
            const other = status === 400 ? otherDialect(dialect, complaint) : undefined;
            dialect = other ?? dialect;
            return other !== undefined;
          },
        }),
        ({ isStream, body }) => (isStream ? readStream(body, from) : readWhole(body, from)),
      ),
  };
}

function otherDialect(dialect: Dialect, complaint: string): Dialect | undefined {
  if (dialect.encrypted && /encrypted/i.test(complaint)) return { ...dialect, encrypted: false };
  if (dialect.summary && /reasoning\.summary|reasoning summar|'reasoning/i.test(complaint))
    return { ...dialect, summary: false };
  if (dialect.temperature && /'temperature'/.test(complaint)) return { ...dialect, temperature: false };
  return undefined;
}

function bodyOf(
  request: ModelRequest,
  sent: { readonly model: string; readonly from: string; readonly dialect: Dialect },
): string {
  const { tools = [], maxTokens, temperature, json } = request;
  const { dialect } = sent;
  const { system, rest } = systemApart(request.messages);
  return bodyText(
    {
      model: sent.model,
      stream: true,
      store: false,
      include: dialect.encrypted ? ["reasoning.encrypted_content"] : undefined,
      reasoning: dialect.summary ? { summary: "auto" } : undefined,
      max_output_tokens: maxTokens,
      temperature: dialect.temperature ? temperature : undefined,
      text: json === true ? { format: { type: "json_object" } } : undefined,
      tools:
        tools.length === 0 ? undefined : tools.map((tool) => ({ type: "function", ...tool, strict: false })),
      instructions: system === "" ? undefined : system,
    },
    { input: rest.flatMap((message) => itemsOf(message, sent.from)) },
  );
}

/** A message as the items of the API, each as JSON text. */
function itemsOf(message: ModelMessage, from: string): string[] {
  switch (message.role) {
    case "system":
      return [JSON.stringify({ role: "system", content: message.content })];
    case "user":
      return [JSON.stringify({ role: "user", content: contentOf(message.content) })];
    case "tool":
      return [
        JSON.stringify({
          type: "function_call_output",
          call_id: message.toolCallId,
          output: contentOf(message.content),
        }),
      ];
    case "assistant": {
      const { opaque, content, toolCalls = [] } = message;
      if (opaque?.from === from) return [opaque.json.slice(1, -1)];
      const said = content === "" ? [] : [JSON.stringify({ role: "assistant", content })];
      const called = toolCalls.map(({ id, name, arguments: given }) =>
        JSON.stringify({ type: "function_call", call_id: id, name, arguments: argumentsText(given) }),
      );
      return [...said, ...called];
    }
  }
}

function contentOf(content: string | readonly Content[]): unknown {
  if (typeof content === "string") return content;
  if (!content.some(({ type }) => type === "image")) return textOf(content);
  return content.map((part) =>
    part.type === "image"
      ? { type: "input_image", image_url: `data:${part.mimeType};base64,${part.data}` }
      : { type: "input_text", text: textOf([part]) },
  );
}

async function* readWhole(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new ResponsesAnswer(from);
  yield* answer.takeWhole(parsed(await whole(body)));
  yield* answer.end();
}

async function* readStream(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new ResponsesAnswer(from);
  for await (const data of eventData(body)) {
    if (data.trim() === "[DONE]") break;
    yield* answer.take(parsed(data));
    if (answer.hasEnded) break;
  }
  if (!answer.hasEnded) throw brokenOff();
  yield* answer.end();
}
