import type { SqliteConversationStore } from "./conversation-store.js";
import type { Conversation, StoredMessage } from "./types.js";

/** A conversation as programs see it. */
export function publicConversation(conversation: Conversation) {
  const { id, title, source, owner, model, cwd, parent, startedAt, updatedAt, messages, state } =
    conversation;
  return {
    id,
    title,
    source,
    model,
    started_at: new Date(startedAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    messages,
    parent: parent ?? null,
    state,
    owner,
    cwd,
  };
}

export function publicMessage(message: StoredMessage) {
  const { id, role, content, toolCalls, toolCallId, name, isError, at } = message;
  return {
    id,
    role,
    content,
    tool_calls: toolCalls ?? null,
    tool_call_id: toolCallId ?? null,
    ...(name !== undefined && { name }),
    ...(isError !== undefined && { is_error: isError }),
    at: new Date(at).toISOString(),
  };
}

const PAGE = 50;

/** All messages of a conversation, some at a time: it may be larger than memory. */
export async function* eachMessage(
  store: SqliteConversationStore,
  session: string,
): AsyncGenerator<StoredMessage> {
  for (let after: string | undefined; ; ) {
    const page = await store.page(session, { after, limit: PAGE });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
