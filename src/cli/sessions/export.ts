import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import type { Conversation, StoredMessage } from "../../agent/sessions/types.js";
import { textOf } from "../../tool/content.js";
import { type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { jsonLine } from "../output.js";
import { eachMessage, publicConversation, publicMessage, withConversation, write } from "./open.js";

export async function exportSession(context: CommandContext): Promise<void> {
  const { format } = context.options;
  if (format === "tape") await writeTape(context);
  else await withConversation(context, format === "md" ? writeMarkdown : writeLines);
}

/** Also of a session that is no conversation: the calls that the journal has of it. */
async function writeTape(context: CommandContext): Promise<void> {
  const [id = ""] = context.args;
  const { tapeOf } = await import("./tape.js");
  const lines = await withRuntime(context, (runtime) => tapeOf(context, { runtime, id }));
  if (lines === undefined) {
    const hint = "See: hermes sessions list, hermes calls";
    throw commandError("not_found", `There is no conversation ${id}, and no call of such a session`, hint);
  }
  for (const line of lines) await write(line);
}

/** One line about the conversation, then one per message. */
async function writeLines(store: SqliteConversationStore, conversation: Conversation): Promise<void> {
  await write(jsonLine({ type: "session", ...publicConversation(conversation) }));
  for await (const message of eachMessage(store, conversation.id))
    await write(jsonLine({ type: "message", ...publicMessage(message) }));
}

async function writeMarkdown(store: SqliteConversationStore, conversation: Conversation): Promise<void> {
  for await (const part of markdownOf(store, conversation)) await write(part);
}

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
