import type * as acp from "@agentclientprotocol/sdk";
import type { StoredMessage } from "../../agent/sessions/types.js";
import { type Content, text, textOf } from "../../tool/content.js";
import { textContent } from "./tool-updates.js";

/** What the person wrote in the editor, with what they put in. */
export function messageOf(prompt: readonly acp.ContentBlock[]): string | readonly Content[] {
  const parts = prompt.map(partOf);
  return parts.every(({ type }) => type === "text") ? parts.map((part) => textOf([part])).join("\n") : parts;
}

function partOf(block: acp.ContentBlock): Content {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return { type: "image", data: block.data, mimeType: block.mimeType };
    case "audio":
      return { type: "audio", data: block.data, mimeType: block.mimeType };
    case "resource_link":
      return text(`[${block.name}](${block.uri})`);
    case "resource": {
      const { resource } = block;
      // Models get texts and pictures; what a file holds is a text to them.
      if ("text" in resource) return text(`<file uri="${resource.uri}">\n${resource.text}\n</file>`);
      return { type: "resource", uri: resource.uri };
    }
    default:
      return text("[something this program does not know]");
  }
}

/** A conversation that is loaded is told from its beginning, as it would have been told while it went on. */
export function replayOf(stored: readonly StoredMessage[]): readonly acp.SessionUpdate[] {
  const answers = new Map(
    stored.flatMap((message) =>
      message.role === "tool" && message.toolCallId !== undefined
        ? [[message.toolCallId, message] as const]
        : [],
    ),
  );
  return stored.flatMap((message): readonly acp.SessionUpdate[] => {
    const said = typeof message.content === "string" ? message.content : textOf(message.content);
    const content = { type: "text" as const, text: said };
    if (message.role === "user") return [{ sessionUpdate: "user_message_chunk", content }];
    if (message.role !== "assistant") return [];
    return [
      ...(said === "" ? [] : [{ sessionUpdate: "agent_message_chunk" as const, content }]),
      ...(message.toolCalls ?? []).map(({ id, name, arguments: given }): acp.SessionUpdate => {
        const answer = answers.get(id);
        const told = answer === undefined ? "" : textIn(answer);
        return {
          sessionUpdate: "tool_call",
          toolCallId: `m${message.id}.${id}`,
          title: name,
          kind: "other",
          status: answer === undefined || answer.isError === true ? "failed" : "completed",
          rawInput: readable(given),
          content: told === "" ? [] : [textContent(told)],
        };
      }),
    ];
  });
}

function textIn({ content }: StoredMessage): string {
  return typeof content === "string" ? content : textOf(content);
}

/** Arguments are kept as the model wrote them, which is mostly JSON text. */
export function readable(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
