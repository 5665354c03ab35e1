import type { CallToolResult } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import { type Content, text, textOf } from "../../tool/content.js";
import { ToolError } from "../../tool/errors.js";
import { ToolResult } from "../../tool/result.js";

/** What a server answered, as a result of ours. `fits` says whether structured data is what the tool promised. */
export function toToolResult(result: CallToolResult, fits: boolean): ToolResult {
  const blocks: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
  const content = blocks.map(toContent);
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

/** What is not as the protocol has it is shown as it came. */
function toContent(block: unknown): Content {
  const fields = isRecord(block) ? block : {};
  const { type } = fields;
  if (type === "text" && typeof fields.text === "string") return text(fields.text);
  if (type === "image" || type === "audio")
    return media(type, fields.data, fields.mimeType) ?? asItCame(block);
  if (type === "resource_link" && typeof fields.uri === "string")
    return resource({ uri: fields.uri, mimeType: fields.mimeType, text: linkText(fields) });
  if (type === "resource" && isRecord(fields.resource)) return embedded(fields.resource);
  return asItCame(block);
}

function asItCame(block: unknown): Content {
  return text(JSON.stringify(block) ?? "");
}

function media(type: "image" | "audio", data: unknown, mimeType: unknown): Content | undefined {
  return typeof data === "string" && typeof mimeType === "string" ? { type, data, mimeType } : undefined;
}

function linkText({ name, description }: Readonly<Record<string, unknown>>): string | undefined {
  const words = [name, description].filter((part) => typeof part === "string" && part !== "");
  return words.length === 0 ? undefined : words.join(": ");
}

/** A resource that was sent along, or read by a tool of ours. */
export function embedded(given: Readonly<Record<string, unknown>>): Content {
  const { uri, mimeType, text: words, blob } = given;
  if (typeof words === "string") return resource({ uri, mimeType, text: words });
  const kind = typeof mimeType === "string" ? /^(image|audio)\//.exec(mimeType)?.[1] : undefined;
  const shown = kind === undefined ? undefined : media(kind as "image" | "audio", blob, mimeType);
  if (shown !== undefined) return shown;
  const bytes = Math.floor((String(blob ?? "").length * 3) / 4);
  return resource({ uri, mimeType, text: `[${bytes} bytes that are not text]` });
}

function resource(fields: {
  readonly uri: unknown;
  readonly mimeType: unknown;
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
