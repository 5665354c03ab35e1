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

/** OpenAI Responses. */
export const responses: Format = {
  matches: (path) => (path.endsWith("/responses") ? {} : undefined),

  read: (body) => ({
    tools: list(body.tools).map((tool) => string(record(tool).name)),
    messages: readItems(body),
    prompt: [body.tools ?? [], body.instructions ?? "", ...list(body.input)].map((one) =>
      JSON.stringify(one),
    ),
  }),

  *stream(answer) {
    const created = { ...head(answer), status: "in_progress", output: [] };
    yield typed({ type: "response.created", response: created });
    for (const [output_index, item] of items(answer).entries()) {
      const at = { output_index, item_id: item.id };
      yield typed({
        type: "response.output_item.added",
        output_index,
        item: { ...item, ...EMPTY[item.type] },
      });
      if (item.type === "reasoning")
        for (const delta of pieces(answer.reasoning))
          yield typed({ type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta });
      if (item.type === "message")
        for (const delta of pieces(answer.text))
          yield typed({ type: "response.output_text.delta", ...at, content_index: 0, delta });
      if (item.type === "function_call") {
        for (const delta of pieces(item.arguments))
          yield typed({ type: "response.function_call_arguments.delta", ...at, delta });
      }
      yield typed({ type: "response.output_item.done", output_index, item });
    }
  },

  end: (answer) => {
    const response = responses.whole(answer);
    const type = answer.finish === "stop" || answer.finish === "tool_calls" ? "completed" : "incomplete";
    return typed({ type: `response.${type}`, response });
  },

  whole: (answer) => {
    const reason = { length: "max_output_tokens", refusal: "content_filter", stop: "", tool_calls: "" }[
      answer.finish
    ];
    return {
      ...head(answer),
      status: reason === "" ? "completed" : "incomplete",
      incomplete_details: reason === "" ? null : { reason },
      output: items(answer),
      usage: {
        input_tokens: answer.bill.inputTokens,
        input_tokens_details: { cached_tokens: answer.bill.cachedTokens },
        output_tokens: answer.bill.outputTokens,
        total_tokens: answer.bill.inputTokens + answer.bill.outputTokens,
      },
    };
  },

  error: (status, text, code = null) => ({
    error: { message: text, type: status >= 500 ? "server_error" : "invalid_request_error", code },
  }),
  streamedError: (text) => typed({ type: "error", code: "server_error", message: text, param: null }),

  refuses(body, known) {
    const input = list(body.input).map(record);
    for (const [at, item] of input.entries()) {
      if (item.type !== "reasoning") continue;
      if (known.get(string(item.encrypted_content))?.model !== body.model)
        return `The encrypted content of item ${string(item.id)} could not be verified`;
      const { type, role } = input[at + 1] ?? {};
      if (type !== "function_call" && type !== "message" && role !== "assistant")
        return `Item '${string(item.id)}' of type 'reasoning' was provided without its required following item`;
    }
    return unanswered(readItems(body));
  },
};

const EMPTY: Readonly<Record<string, object>> = {
  reasoning: { summary: [], encrypted_content: "" },
  message: { status: "in_progress", content: [] },
  function_call: { status: "in_progress", arguments: "" },
};

function typed(value: { readonly type: string; readonly [name: string]: unknown }): string {
  return event(value, value.type);
}

function head({ model }: Answer) {
  return { id: "resp_scripted", object: "response", created_at: 1, model };
}

function items(answer: Answer) {
  const reasoning =
    answer.reasoning === ""
      ? []
      : [
          {
            id: `rs_${answer.signature.slice(-8)}`,
            type: "reasoning" as const,
            encrypted_content: answer.signature,
            summary: [{ type: "summary_text", text: answer.reasoning }],
          },
        ];
  const said =
    answer.text === ""
      ? []
      : [
          {
            id: "msg_scripted",
            type: "message" as const,
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", annotations: [], text: answer.text }],
          },
        ];
  const calls = answer.calls.map(({ id, name, arguments: given }) => ({
    id: `fc_${id}`,
    type: "function_call" as const,
    status: answer.finish === "length" ? "incomplete" : "completed",
    call_id: id,
    name,
    arguments: given,
  }));
  return [...reasoning, ...said, ...calls];
}

/** Items that belong to one answer of the model become one message. */
function readItems(body: Readonly<Record<string, unknown>>): AskedMessage[] {
  const messages: AskedMessage[] = [];
  const instructions = string(body.instructions);
  if (instructions !== "") messages.push(message("system", instructions));
  for (const item of list(body.input).map(record)) {
    const last = messages.at(-1);
    if (item.type === "function_call_output")
      messages.push(
        message("tool", contentText(item.output), {
          answers: string(item.call_id),
          images: imagesIn(item.output),
        }),
      );
    else if (item.type === "function_call") {
      const call = { id: string(item.call_id), name: string(item.name) };
      if (last?.role === "assistant") messages.splice(-1, 1, { ...last, calls: [...last.calls, call] });
      else messages.push(message("assistant", "", { calls: [call] }));
    } else if (item.type !== "reasoning") {
      const role = item.role === "assistant" || item.role === "system" ? item.role : "user";
      messages.push(message(role, contentText(item.content), { images: imagesIn(item.content) }));
    }
  }
  return messages;
}
