import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import { type Content, text, textOf } from "../../tool/content.js";
import { ToolError } from "../../tool/errors.js";
import { ToolResult } from "../../tool/result.js";
import { isRecord } from "../../tool/schema-walk.js";

/** What a server answered, as a result of ours. `fits` says whether structured data is what the tool promised. */
export function toToolResult(result: CallToolResult, fits: boolean): ToolResult {
  const blocks: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
  const content = blocks.map((block) => toContent(block as ContentBlock));
  if (result.isError === true) {
    const words = textOf(content).trim();
    throw new ToolError(words === "" ? "the tool reported a failure without saying why" : words);
  }
  const structured = result.structuredContent;
  const isUsable = structured !== undefined && fits;
  if (content.length > 0)
    return new ToolResult({ success: true, content, ...(isUsable && { output: structured }) });
  if (structured === undefined) return new ToolResult({ success: true, content: [text("")] });
  if (!isUsable)
    throw new ToolError("the tool answered with data of another form than it promised", {
      code: "bad_result",
    });
  return new ToolResult({ success: true, output: structured, content: [text(JSON.stringify(structured))] });
}

function toContent(block: ContentBlock): Content {
  switch (block?.type) {
    case "text":
      return text(String(block.text));
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case "resource_link":
      return resource({ uri: block.uri, mimeType: block.mimeType, text: linkText(block) });
    case "resource":
      return embedded(block.resource);
    default:
      return text(JSON.stringify(block) ?? "");
  }
}

function linkText(link: {
  readonly name: string;
  readonly description?: string | undefined;
}): string | undefined {
  const { name, description } = link;
  const words = [name, description].filter((part) => typeof part === "string" && part !== "");
  return words.length === 0 ? undefined : words.join(": ");
}

/** A resource that was sent along, or read by a tool of ours. */
export function embedded(given: ReadResourceResult["contents"][number]): Content {
  const { uri, mimeType } = given;
  if ("text" in given) return resource({ uri, mimeType, text: given.text });
  if (typeof mimeType === "string" && mimeType.startsWith("image/"))
    return { type: "image", data: given.blob, mimeType };
  if (typeof mimeType === "string" && mimeType.startsWith("audio/"))
    return { type: "audio", data: given.blob, mimeType };
  const bytes = Math.floor((String(given.blob ?? "").length * 3) / 4);
  return resource({ uri, mimeType, text: `[${bytes} bytes that are not text]` });
}

function resource(fields: {
  readonly uri: string;
  readonly mimeType: string | undefined;
  readonly text: string | undefined;
}): Content {
  return {
    type: "resource",
    uri: String(fields.uri),
    ...(typeof fields.mimeType === "string" && { mimeType: fields.mimeType }),
    ...(typeof fields.text === "string" && { text: fields.text }),
  };
}

/** Whether a value is what an output schema promises; a schema that cannot be used promises nothing. */
export function outputCheck(schema: unknown): (value: unknown) => Promise<boolean> {
  let check: Promise<(value: unknown) => boolean> | undefined;
  return async (value) => {
    if (!isRecord(schema)) return true;
    check ??= import("../../tool/validate.js").then(({ compileValidator }) => {
      try {
        const validator = compileValidator(schema, { foreign: true });
        return (given: unknown) => validator.check(given);
      } catch {
        return () => true;
      }
    });
    return (await check)(value);
  };
}
