import { isRecord } from "../base/record.js";
import { type Failure, failure } from "../tool/errors.js";
import type { Adapter, Recognised } from "./adapter.js";
import { callEntry } from "./call-entry.js";
import { modelText } from "./model-text.js";
import { kindOf, listOf, own, type WireRecord } from "./wire-values.js";

/** OpenAI Chat Completions: an assistant message, or the whole response around it. */
export const openai: Adapter = {
  format: "openai",

  recognise(value) {
    if (!isRecord(value)) return undefined;
    const choices = listOf(own(value, "choices"));
    if (choices !== undefined) return messageCalls(answeringMessage(choices));
    if (own(value, "role") !== "assistant") return undefined;
    const content = own(value, "content");
    const isChat = Object.hasOwn(value, "tool_calls") || content === null || typeof content === "string";
    return isChat ? messageCalls(value) : undefined;
  },

  encode(answers) {
    return answers.map(({ id, result }) => ({
      role: "tool",
      tool_call_id: id,
      content: modelText(result),
    }));
  },

  define(definitions) {
    return definitions.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  },
};

/** Choices are alternatives, so one message answers; some hosts put text in one choice and calls in the next. */
function answeringMessage(choices: readonly unknown[]): WireRecord {
  const messages = choices.map((choice) => own(choice, "message"));
  const withCalls = messages.find((message) => listOf(own(message, "tool_calls"))?.length);
  const message = withCalls ?? messages[0];
  return isRecord(message) ? message : {};
}

function messageCalls(message: WireRecord): Recognised | Failure {
  if (isRecord(own(message, "function_call"))) {
    return failure(
      "bad_request",
      'The message holds a "function_call", the form that came before "tool_calls" and has no ids.',
      'Ask the model with "tools" instead of "functions", so that it answers with "tool_calls".',
    );
  }
  const calls = own(message, "tool_calls") ?? [];
  const entries = listOf(calls);
  if (entries === undefined) {
    return failure(
      "bad_request",
      `"tool_calls" of the assistant message must be a list, but it is ${kindOf(calls)}.`,
      "Send the message exactly as the model returned it.",
    );
  }
  return { format: "openai", entries, read: callEntry };
}
