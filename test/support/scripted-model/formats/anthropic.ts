import type { AskedMessage } from "../scenario.js";
import {
  type Answer,
  argumentsObject,
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

/** Anthropic Messages. */
export const anthropic: Format = {
  matches: (path) => (path.endsWith("/messages") ? {} : undefined),

  read: (body) => ({
    tools: list(body.tools).map((tool) => string(record(tool).name)),
    messages: [...systemOf(body.system), ...list(body.messages).flatMap(readMessage)],
    prompt: [body.tools ?? [], body.system ?? "", ...list(body.messages).flatMap(blocksOf)].map(withoutMarks),
  }),

  *stream(answer) {
    const start = {
      ...head(answer),
      content: [],
      stop_reason: null,
      usage: { ...usageOf(answer), output_tokens: 1 },
    };
    yield typed({ type: "message_start", message: start });
    yield typed({ type: "ping" });
    for (const [index, block] of blocks(answer).entries()) {
      yield typed({ type: "content_block_start", index, content_block: block.start });
      for (const delta of block.deltas) yield typed({ type: "content_block_delta", index, delta });
      yield typed({ type: "content_block_stop", index });
    }
  },

  end: (answer) =>
    typed({
      type: "message_delta",
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: answer.bill.outputTokens },
    }) + typed({ type: "message_stop" }),

  whole: (answer) => ({
    ...head(answer),
    content: blocks(answer).map(({ whole }) => whole),
    stop_reason: stopOf(answer),
    usage: usageOf(answer),
  }),

  error: (status, text) => ({ type: "error", error: { type: typeOf(status), message: text } }),
  streamedError: (text) => typed({ type: "error", error: { type: "overloaded_error", message: text } }),

  refuses(body, known) {
    for (const block of list(body.messages)
      .flatMap((one) => list(record(one).content))
      .map(record)) {
      if (block.type !== "thinking") continue;
      const given = known.get(string(block.signature));
      if (given?.model !== body.model || given?.reasoning !== block.thinking)
        return "Invalid `signature` in `thinking` block";
    }
    const messages = list(body.messages).map(record);
    const wrong = messages.find((one, at) => one.role === messages[at - 1]?.role);
    if (wrong !== undefined) return "roles must alternate";
    return unanswered(list(body.messages).flatMap(readMessage));
  },
};

function typeOf(status: number): string {
  const types: Record<number, string> = {
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

function typed(value: { readonly type: string; readonly [name: string]: unknown }): string {
  return event(value, value.type);
}

function systemOf(system: unknown): AskedMessage[] {
  const text = contentText(system);
  return text === "" ? [] : [message("system", text)];
}

/** One message of the API is several of the conversation: results first, then what the person says. */
function readMessage(value: unknown): AskedMessage[] {
  const { role, content } = record(value);
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : list(content).map(record);
  if (role === "assistant") {
    const calls = parts
      .filter(({ type }) => type === "tool_use")
      .map((part) => ({ id: string(record(part).id), name: string(record(part).name) }));
    return [message("assistant", contentText(parts), { calls })];
  }
  const results = parts
    .filter(({ type }) => type === "tool_result")
    .map((part) =>
      message("tool", contentText(record(part).content), {
        answers: string(record(part).tool_use_id),
        images: imagesIn(record(part).content),
      }),
    );
  const said = parts.filter(({ type }) => type !== "tool_result");
  if (said.length === 0) return results;
  return [...results, message("user", contentText(said), { images: imagesIn(said) })];
}

function blocksOf(value: unknown): unknown[] {
  const { role, content } = record(value);
  return (typeof content === "string" ? [content] : list(content)).map((block) => [role, block]);
}

/** Marks say where a cache may end; they are no part of what is compared. */
function withoutMarks(value: unknown): string {
  return JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}

function blocks(answer: Answer) {
  const thinking =
    answer.reasoning === ""
      ? []
      : [
          {
            start: { type: "thinking", thinking: "", signature: "" },
            deltas: [
              ...pieces(answer.reasoning).map((text) => ({ type: "thinking_delta", thinking: text })),
              { type: "signature_delta", signature: answer.signature },
            ],
            whole: { type: "thinking", thinking: answer.reasoning, signature: answer.signature },
          },
        ];
  const text =
    answer.text === ""
      ? []
      : [
          {
            start: { type: "text", text: "" },
            deltas: pieces(answer.text).map((piece) => ({ type: "text_delta", text: piece })),
            whole: { type: "text", text: answer.text },
          },
        ];
  const calls = answer.calls.map(({ id, name, arguments: given }) => ({
    start: { type: "tool_use", id, name, input: {} },
    deltas: pieces(given).map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    whole: { type: "tool_use", id, name, input: argumentsObject(given) },
  }));
  return [...thinking, ...text, ...calls];
}

function head({ model }: Answer) {
  return { id: "msg_scripted", type: "message", role: "assistant", model };
}

function stopOf({ finish }: Answer): string {
  return { stop: "end_turn", tool_calls: "tool_use", length: "max_tokens", refusal: "refusal" }[finish];
}

function usageOf({ bill }: Answer) {
  return {
    input_tokens: bill.inputTokens - bill.cachedTokens,
    cache_read_input_tokens: bill.cachedTokens,
    cache_creation_input_tokens: 0,
    output_tokens: bill.outputTokens,
  };
}
