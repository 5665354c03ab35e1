import { isRecord } from "../base/record.js";
import type { Content } from "../tool/content.js";
import type { Adapter, Answer, RawEntry } from "./adapter.js";
import { modelContent, modelText, partText } from "./model-text.js";
import { listOf, own, ownFirst, type WireRecord } from "./wire-values.js";

/** OpenAI Responses: a response with `output`, a list of items, or one item. */
export const responses: Adapter = {
  format: "responses",

  recognise(value) {
    if (isCall(value)) return { format: "responses", entries: [value], read: readCall };
    const output = isRecord(value) ? listOf(own(value, "output")) : undefined;
    const items = output ?? listOf(value);
    if (items === undefined) return undefined;
    const calls = items.filter(isCall);
    if (calls.length === 0 && output === undefined) return undefined;
    return { format: "responses", entries: calls, read: readCall };
  },

  encode(answers) {
    return answers.map((answer) => ({
      type: "function_call_output",
      call_id: answer.id,
      output: outputOf(answer.result),
    }));
  },

  define(definitions) {
    return definitions.map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      parameters,
      // This API is strict unless told otherwise, and refuses schemas with optional properties then.
      strict: false,
    }));
  },
};

function isCall(item: unknown): item is WireRecord {
  return isRecord(item) && own(item, "type") === "function_call";
}

/** `call_id` links a result to its call; `id` names the item itself and serves only where it is alone. */
function readCall(item: unknown): RawEntry {
  return {
    id: ownFirst(item, ["call_id", "id"]),
    name: own(item, "name"),
    arguments: own(item, "arguments"),
    source: item,
  };
}

function outputOf(result: Answer["result"]): unknown {
  const hasImage = result.ok && result.content.some((part) => part.type === "image");
  return hasImage ? modelContent(result).map(outputPart) : modelText(result);
}

function outputPart(part: Content) {
  return part.type === "image"
    ? { type: "input_image", image_url: `data:${part.mimeType};base64,${part.data}` }
    : { type: "input_text", text: partText(part) };
}
