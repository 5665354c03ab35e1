import { isRecord } from "../base/record.js";
import { failure } from "../tool/errors.js";
import type { Adapter, Answer, Recognised } from "./adapter.js";
import { callEntry } from "./call-entry.js";
import { metadataOf, modelError, modelSuccess } from "./model-text.js";
import { openai } from "./openai.js";
import { kindOf, listOf, own } from "./wire-values.js";

/** `{"tool_calls": […]}` → `{"tool_results": […]}`; also one bare call, or a list of them. */
export const envelope: Adapter = {
  format: "envelope",

  recognise(value) {
    const bare = listOf(value);
    if (bare !== undefined) return found(bare);
    if (!isRecord(value)) return undefined;
    if (Object.hasOwn(value, "tool_calls")) {
      const calls = own(value, "tool_calls");
      const entries = listOf(calls);
      return entries === undefined ? notAList(calls) : found(entries);
    }
    const isOneCall = Object.hasOwn(value, "name") || Object.hasOwn(value, "function");
    return isOneCall ? found([value]) : undefined;
  },

  encode(answers) {
    return { tool_results: answers.map(toolResult) };
  },

  /** The envelope has no definitions of its own; its senders use the OpenAI ones. */
  define: openai.define,
};

function found(entries: readonly unknown[]): Recognised {
  return { format: "envelope", entries, read: callEntry };
}

function notAList(calls: unknown) {
  return failure(
    "bad_request",
    `"tool_calls" must be a list of calls, but it is ${kindOf(calls)}.`,
    'Send {"tool_calls":[{"id":"call_1","type":"function","function":{"name":"…","arguments":{…}}}]}.',
  );
}

function toolResult({ id, name, result }: Answer) {
  return {
    tool_call_id: id,
    role: "tool",
    name,
    content: result.ok ? modelSuccess(result) : modelError(result),
    duration_ms: result.duration_ms,
    metadata: metadataOf(result),
  };
}
