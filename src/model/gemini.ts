import { type Content, textOf } from "../tool/content.js";
import { eventData } from "./event-stream.js";
import { GeminiAnswer } from "./gemini-answer.js";
import type { ModelClient, ModelMessage, ModelPart, ModelRequest } from "./model-client.js";
import { ask, type ConnectionOptions, endpoint, whole } from "./post.js";
import { streamedError } from "./server-error.js";
import { argumentsText, bodyText, brokenOff, field, listIn, parsed, systemApart, textIn } from "./wire.js";

export interface GeminiOptions extends ConnectionOptions {
  /** Base address; Google's own when left out. */
  readonly url?: string | undefined;
}

export const GEMINI_URL = "https://generativelanguage.googleapis.com";

/** Gemini 3 refuses calls without a signature; this one says that they came from elsewhere. */
const FOREIGN_SIGNATURE = "skip_thought_signature_validator";

/** A model behind Gemini's generateContent API. */
export function geminiClient(options: GeminiOptions): ModelClient {
  const { apiKey, maxBytes, idleMs, proxy } = options;
  // Google's lists name models with their folder.
  const model = options.model.replace(/^models\//, "");
  const path = `/models/${encodeURIComponent(model)}:streamGenerateContent`;
  const address = endpoint(options.url ?? GEMINI_URL, { version: "v1beta", path });
  const from = `gemini:${model}`;
  /** Not every model thinks, and those that do not refuse to be asked for it. */
  let thoughts = true;
  return {
    stream: (request) =>
      ask<ModelPart>(
        () => ({
          url: address === undefined ? undefined : `${address}?alt=sse`,
          headers: apiKey === undefined || apiKey === "" ? {} : { "x-goog-api-key": apiKey },
          body: () => bodyOf(request, { model, from, thoughts }),
          signal: request.signal,
          maxBytes,
          idleMs,
          proxy,
          retryOtherwise(status, complaint) {
            const refusesThoughts = status === 400 && thoughts && /think|thought/i.test(complaint);
            if (refusesThoughts) thoughts = false;
            return refusesThoughts;
          },
        }),
        ({ isStream, body }) => (isStream ? readStream(body, from) : readWhole(body, from)),
      ),
  };
}

interface Sent {
  readonly model: string;
  readonly from: string;
}

function bodyOf(request: ModelRequest, sent: Sent & { readonly thoughts: boolean }): string {
  const { tools = [], maxTokens, temperature, stop, json } = request;
  const { system, rest } = systemApart(request.messages);
  return bodyText(
    {
      systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
      tools:
        tools.length === 0
          ? undefined
          : [
              {
                functionDeclarations: tools.map(({ name, description, parameters }) => ({
                  name,
                  description,
                  parametersJsonSchema: parameters,
                })),
              },
            ],
      generationConfig: {
        maxOutputTokens: maxTokens,
        temperature,
        stopSequences: stop,
        // The two exclude each other on older models.
        responseMimeType: json === true && tools.length === 0 ? "application/json" : undefined,
        thinkingConfig: sent.thoughts ? { includeThoughts: true } : undefined,
      },
    },
    { contents: contents(rest, sent) },
  );
}

interface Side {
  readonly role: "user" | "model";
  /** JSON texts of parts. */
  readonly parts: string[];
}

/** The answers to one message's calls go into one content, in their order. */
function contents(messages: readonly ModelMessage[], sent: Sent): string[] {
  const sides: Side[] = [];
  /** Ids the server has given: only those may go back. */
  const given = new Set<string>();
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = partsOf(message, { ...sent, given });
    if (parts.length === 0) continue;
    const last = sides.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else sides.push({ role, parts });
  }
  return sides.map(({ role, parts }) => `{"role":"${role}","parts":[${parts.join(",")}]}`);
}

function partsOf(message: ModelMessage, sent: Sent & { readonly given: Set<string> }): string[] {
  switch (message.role) {
    case "assistant": {
      const { opaque, content, toolCalls = [] } = message;
      if (opaque?.from === sent.from) {
        for (const part of idsIn(opaque.json)) sent.given.add(part);
        return [opaque.json.slice(1, -1)];
      }
      const said = content === "" ? [] : [JSON.stringify({ text: content })];
      const isStrict = /gemini-[3-9]/.test(sent.model);
      return [
        ...said,
        ...toolCalls.map(({ name, arguments: args }, at) => {
          const call = `{"functionCall":{"name":${JSON.stringify(name)},"args":${argumentsText(args)}}`;
          return isStrict && at === 0 ? `${call},"thoughtSignature":"${FOREIGN_SIGNATURE}"}` : `${call}}`;
        }),
      ];
    }
    case "tool": {
      const { toolCallId, name = "", content, isError } = message;
      const text = typeof content === "string" ? content : textOf(content);
      const functionResponse = {
        id: sent.given.has(toolCallId) ? toolCallId : undefined,
        name,
        response: isError === true ? { error: text } : { output: text },
      };
      return [JSON.stringify({ functionResponse })];
    }
    default: {
      const { content } = message;
      if (typeof content === "string") return content === "" ? [] : [JSON.stringify({ text: content })];
      return content.map((part) => JSON.stringify(wirePart(part)));
    }
  }
}

function idsIn(json: string): string[] {
  const parts: unknown = JSON.parse(json);
  return listIn({ parts }, "parts").flatMap((part) => textIn(field(part, "functionCall"), "id") || []);
}

function wirePart(part: Content): unknown {
  return part.type === "image" || part.type === "audio"
    ? { inlineData: { mimeType: part.mimeType, data: part.data } }
    : { text: textOf([part]) };
}

async function* readWhole(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new GeminiAnswer(from);
  const sent = parsed(await whole(body));
  for (const chunk of Array.isArray(sent) ? sent : [sent]) yield* answer.take(chunk);
  if (!answer.hasEnded) throw brokenOff();
  yield* answer.end();
}

async function* readStream(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<ModelPart> {
  const answer = new GeminiAnswer(from);
  for await (const data of eventData(body)) {
    const chunk = parsed(data);
    const error = field(chunk, "error") ?? null;
    if (error !== null) throw streamedError(error);
    yield* answer.take(chunk);
  }
  if (!answer.hasEnded) throw brokenOff();
  yield* answer.end();
}
