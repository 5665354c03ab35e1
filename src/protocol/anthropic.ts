import { isRecord } from "../base/record.js";
import type { Content } from "../tool/content.js";
import type { Adapter, Answer, RawEntry } from "./adapter.js";
import { modelContent, modelText, partText } from "./model-text.js";
import { listOf, own, type WireRecord } from "./wire-values.js";

/** The image types the Messages API takes; others go as a line of text. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Anthropic Messages: a message, its content blocks, or one block. */
export const anthropic: Adapter = {
  format: "anthropic",

  recognise(value) {
    if (isCall(value)) return { format: "anthropic", entries: [value], read: readCall };
    const content = isRecord(value) ? listOf(own(value, "content")) : undefined;
    const blocks = content ?? listOf(value);
    if (blocks === undefined) return undefined;
    const calls = blocks.filter(isCall);
    if (calls.length === 0 && content === undefined) return undefined;
    return { format: "anthropic", entries: calls, read: readCall };
  },

  encode(answers) {
    return {
      role: "user",
      content: answers.map(({ id, result }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: contentOf(result),
        is_error: !result.ok,
      })),
    };
  },

  define(definitions) {
    return definitions.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    }));
  },
};

/** `server_tool_use` and `mcp_tool_use` are run by the provider and need no answer. */
function isCall(block: unknown): block is WireRecord {
  return isRecord(block) && own(block, "type") === "tool_use";
}

function readCall(block: unknown): RawEntry {
  return { id: own(block, "id"), name: own(block, "name"), arguments: own(block, "input"), source: block };
}

function contentOf(result: Answer["result"]): unknown {
  if (!result.ok || !result.content.some(isImage)) return modelText(result);
  // The API refuses empty text blocks.
  return modelContent(result)
    .map(block)
    .filter((part) => part.type !== "text" || part.text !== "");
}

function isImage(part: Content): part is Extract<Content, { type: "image" }> {
  return part.type === "image" && IMAGE_TYPES.has(part.mimeType);
}

function block(part: Content) {
  return isImage(part)
    ? { type: "image" as const, source: { type: "base64", media_type: part.mimeType, data: part.data } }
    : { type: "text" as const, text: partText(part) };
}
