import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { markdownOf } from "../../agent/sessions/markdown.js";
import { eachMessage, publicConversation, publicMessage } from "../../agent/sessions/public.js";
import type { Conversation } from "../../agent/sessions/types.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { jsonLine } from "../output.js";
import { withConversation, write } from "./open.js";

export async function exportSession(context: CommandContext): Promise<void> {
  const { format } = context.options;
  if (format === "tape") {
    throw commandError(
      "unavailable",
      "A conversation cannot be exported as a tape yet",
      "Use --format jsonl or --format md.",
    );
  }
  await withConversation(context, format === "md" ? writeMarkdown : writeLines);
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
