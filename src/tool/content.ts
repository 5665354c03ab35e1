/** What a model receives: text, or parts where its format can carry them. */
export type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | { readonly type: "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource"; readonly uri: string; readonly mimeType?: string; readonly text?: string };

export function text(value: string): Content {
  return { type: "text", text: value };
}

/** The textual part of a result, the way a text-only model format needs it. */
export function textOf(content: readonly Content[]): string {
  const first = content[0];
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map(asText).join("\n");
}

function asText(part: Content): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "resource":
      return part.text === undefined ? `[resource ${part.uri}]` : `[resource ${part.uri}]\n${part.text}`;
    default:
      return `[${part.type} ${part.mimeType}]`;
  }
}
