import { textOf } from "../../tool/content.js";
import type { SqliteConversationStore } from "./conversation-store.js";
import { eachMessage } from "./public.js";
import type { Conversation, StoredMessage } from "./types.js";

/** A conversation for people, part by part: it may be larger than memory. */
export async function* markdownOf(
  store: SqliteConversationStore,
  conversation: Conversation,
): AsyncGenerator<string> {
  const { id, title, model, startedAt } = conversation;
  const head = [id, model, new Date(startedAt).toISOString()].filter(Boolean).join(" · ");
  yield `# ${oneLine(title) || id}\n\n${head}\n`;
  for await (const message of eachMessage(store, id)) yield section(message);
}

function section({ role, at, content, toolCalls = [], name }: StoredMessage): string {
  const who = name === undefined ? role : `${role} ${oneLine(name)}`;
  const text = typeof content === "string" ? content : textOf(content);
  const body = role === "tool" ? fenced(text) : text;
  const calls = toolCalls.map((call) => {
    const given =
      typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 2);
    return `**${oneLine(call.name)}**\n\n${fenced(given, "json")}`;
  });
  const parts = [`## ${who} · ${new Date(at).toISOString()}`, body, ...calls].filter((part) => part !== "");
  return `\n${parts.join("\n\n")}\n`;
}

/** Text that holds fences gets longer ones around it. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/^\s*(`{3,})/gm)].map(([, fence = ""]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
