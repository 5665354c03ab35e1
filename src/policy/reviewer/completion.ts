import type { fetch as undiciFetch } from "undici";
import type { Message } from "./question.js";

export type Fetch = typeof undiciFetch;

export interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
}

/** Which of the fields that servers differ in are sent. */
export interface Dialect {
  readonly jsonMode: boolean;
  readonly limitField: "max_tokens" | "max_completion_tokens";
}

export const USUAL_DIALECT: Dialect = { jsonMode: true, limitField: "max_tokens" };

const ANSWER_TOKENS = 200;
const LONGEST_RESPONSE = 65_536;

export type Completion =
  | { readonly content: string }
  | { readonly trouble: string; readonly retry?: Dialect };

/** One request; whatever is not a plain answer is trouble, told without the key and without the server's words. */
export async function requestCompletion(options: {
  readonly endpoint: Endpoint;
  readonly messages: readonly Message[];
  readonly dialect: Dialect;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  readonly dispatcher?: NonNullable<Parameters<Fetch>[1]>["dispatcher"];
}): Promise<Completion> {
  const { endpoint, dialect, dispatcher } = options;
  const response = await options.fetch(endpoint.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(endpoint.apiKey !== undefined &&
        endpoint.apiKey !== "" && { authorization: `Bearer ${endpoint.apiKey}` }),
    },
    body: JSON.stringify({
      model: endpoint.model,
      messages: options.messages,
      temperature: 0,
      stream: false,
      [dialect.limitField]: ANSWER_TOKENS,
      ...(dialect.jsonMode && { response_format: { type: "json_object" } }),
    }),
    // A redirect could carry the key and the command to somebody else.
    redirect: "manual",
    signal: options.signal,
    ...(dispatcher !== undefined && { dispatcher }),
  });
  const text = await readLimited(response.body);
  if (text === undefined) return { trouble: "its response was too large" };
  if (response.status !== 200) {
    const retry =
      response.status === 400 || response.status === 422 ? otherDialect(dialect, text) : undefined;
    return { trouble: `its server answered ${response.status}`, ...(retry !== undefined && { retry }) };
  }
  const content = contentOf(text);
  return content === undefined ? { trouble: "its server sent no plain answer" } : { content };
}

/** Some servers refuse a field they do not know; only what they name is left out. */
function otherDialect(dialect: Dialect, complaint: string): Dialect | undefined {
  if (dialect.limitField === "max_tokens" && complaint.includes("max_completion_tokens")) {
    return { ...dialect, limitField: "max_completion_tokens" };
  }
  return dialect.jsonMode ? { ...dialect, jsonMode: false } : undefined;
}

async function readLimited(body: AsyncIterable<Uint8Array> | null): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > LONGEST_RESPONSE) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The text of the only choice; a refusal, a tool call, a cut-off or a second choice is no answer. */
function contentOf(text: string): string | undefined {
  const choices = field(parse(text), "choices");
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  const finish = field(choices[0], "finish_reason");
  if (finish !== undefined && finish !== null && finish !== "stop") return undefined;
  const message = field(choices[0], "message");
  if ((field(message, "refusal") ?? null) !== null) return undefined;
  const calls = field(message, "tool_calls") ?? [];
  if (!Array.isArray(calls) || calls.length > 0) return undefined;
  const content = field(message, "content");
  return typeof content === "string" ? content : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
