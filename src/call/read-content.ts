import { type Content, text } from "../tool/content.js";

/** Content parts as a handler gave them, or undefined when one of them is none. */
export function readContent(given: unknown): readonly Content[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const content: Content[] = [];
  for (const part of given as unknown[]) {
    const read = readPart(part);
    if (read === undefined) return undefined;
    content.push(read);
  }
  return content;
}

function readPart(part: unknown): Content | undefined {
  if (typeof part !== "object" || part === null || !("type" in part)) return undefined;
  const fields = part as Record<string, unknown>;
  switch (fields.type) {
    case "text":
      return typeof fields.text === "string" ? text(fields.text) : undefined;
    case "image":
    case "audio":
      return typeof fields.data === "string" && typeof fields.mimeType === "string"
        ? { type: fields.type, data: fields.data, mimeType: fields.mimeType }
        : undefined;
    case "resource":
      return typeof fields.uri === "string"
        ? {
            type: "resource",
            uri: fields.uri,
            ...(typeof fields.mimeType === "string" && { mimeType: fields.mimeType }),
            ...(typeof fields.text === "string" && { text: fields.text }),
          }
        : undefined;
    default:
      return undefined;
  }
}

/** The envelope `{_multimodal: true, content: [...], text_summary}` of the source documents. */
export function readMultimodal(output: unknown): readonly Content[] | undefined {
  if (
    typeof output !== "object" ||
    output === null ||
    !("_multimodal" in output) ||
    output._multimodal !== true
  ) {
    return undefined;
  }
  const parts = "content" in output && Array.isArray(output.content) ? (output.content as unknown[]) : [];
  const content = parts.flatMap((part) => readOpenAiPart(part));
  if (content.length > 0) return content;
  return "text_summary" in output && typeof output.text_summary === "string"
    ? [text(output.text_summary)]
    : undefined;
}

function readOpenAiPart(part: unknown): readonly Content[] {
  if (typeof part !== "object" || part === null) return [];
  if ("text" in part && typeof part.text === "string") return [text(part.text)];
  const image = "image_url" in part ? part.image_url : undefined;
  const url = typeof image === "object" && image !== null && "url" in image ? image.url : undefined;
  const data = typeof url === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : null;
  return data?.[1] === undefined || data[2] === undefined
    ? []
    : [{ type: "image", mimeType: data[1], data: data[2] }];
}
