import type { AskedMessage } from "../scenario.js";
import {
  type Answer,
  contentText,
  event,
  type Format,
  imagesIn,
  list,
  message,
  pieces,
  record,
  string,
  unanswered,
} from "./format.js";

/** OpenAI Chat Completions. */
export const chat: Format = {
  matches: (path) => (path.endsWith("/chat/completions") ? {} : undefined),

  read: (body) => ({
    tools: list(body.tools).map((tool) => string(record(record(tool).function).name)),
    messages: list(body.messages).map(readMessage),
    prompt: [JSON.stringify(body.tools ?? []), ...list(body.messages).map((one) => JSON.stringify(one))],
  }),

  *stream(answer) {
    yield chunk(answer, { role: "assistant", content: "" });
    for (const piece of pieces(answer.reasoning)) yield chunk(answer, { reasoning_content: piece });
    for (const piece of pieces(answer.text)) yield chunk(answer, { content: piece });
    for (const [index, { id, name, arguments: given }] of answer.calls.entries()) {
      const start = { index, id, type: "function", function: { name, arguments: "" } };
      yield chunk(answer, { tool_calls: [start] });
      for (const piece of pieces(given))
        yield chunk(answer, { tool_calls: [{ index, function: { arguments: piece } }] });
    }
  },

  end: (answer) =>
    chunk(answer, {}, finishOf(answer)) +
    event({ ...head(answer), choices: [], usage: usageOf(answer) }) +
    event("[DONE]"),

  whole: (answer) => ({
    ...head(answer),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        finish_reason: finishOf(answer),
        message: {
          role: "assistant",
          content: answer.text === "" ? null : answer.text,
          ...(answer.reasoning !== "" && { reasoning_content: answer.reasoning }),
          ...(answer.calls.length > 0 && {
            tool_calls: answer.calls.map(({ id, name, arguments: given }) => ({
              id,
              type: "function",
              function: { name, arguments: given },
            })),
          }),
        },
      },
    ],
    usage: usageOf(answer),
  }),

  error: (status, text, code = null) => ({
    error: { message: text, type: typeOf(status), param: null, code },
  }),
  streamedError: (text) => event({ error: { message: text, type: "server_error", code: null } }),
  refuses: (body) => unanswered(list(body.messages).map(readMessage)),
};

function typeOf(status: number): string {
  return status === 429 ? "rate_limit_exceeded" : status >= 500 ? "server_error" : "invalid_request_error";
}

function readMessage(value: unknown): AskedMessage {
  const { role, content, tool_calls, tool_call_id } = record(value);
  const text = contentText(content);
  if (role === "tool") return message("tool", text, { answers: string(tool_call_id) });
  if (role === "system" || role === "developer") return message("system", text);
  if (role === "user") return message("user", text, { images: imagesIn(content) });
  const calls = list(tool_calls).map((call) => ({
    id: string(record(call).id),
    name: string(record(record(call).function).name),
  }));
  return message("assistant", text, { calls });
}

function head({ model }: Answer) {
  return { id: "chatcmpl-scripted", object: "chat.completion.chunk", created: 1, model };
}

function chunk(answer: Answer, delta: unknown, finish_reason: string | null = null): string {
  return event({ ...head(answer), choices: [{ index: 0, delta, finish_reason }] });
}

function finishOf({ finish }: Answer): string {
  return finish === "refusal" ? "content_filter" : finish;
}

function usageOf({ bill }: Answer) {
  return {
    prompt_tokens: bill.inputTokens,
    completion_tokens: bill.outputTokens,
    total_tokens: bill.inputTokens + bill.outputTokens,
    prompt_tokens_details: { cached_tokens: bill.cachedTokens },
  };
}
