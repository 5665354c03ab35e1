import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { markdownOf } from "../../agent/sessions/markdown.js";
import { eachMessage, publicConversation, publicMessage } from "../../agent/sessions/public.js";
import type { Conversation } from "../../agent/sessions/types.js";
import { type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { jsonLine } from "../output.js";
import { withConversation, write } from "./open.js";

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
