import { once } from "node:events";
import { existsSync } from "node:fs";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import type { Conversation } from "../../agent/sessions/types.js";
import { hermesPaths } from "../../config/paths.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

/** Gives a command the conversations of this home and closes them afterwards; undefined where there are none yet. */
export async function withConversations<Result>(
  { home, out }: CommandContext,
  work: (store: SqliteConversationStore) => Promise<Result>,
): Promise<Result | undefined> {
  const paths = hermesPaths(home);
  // Looking leaves nothing behind.
  if (!existsSync(paths.sessionsDb)) return undefined;
  const { openConversations } = await import("../../agent/sessions/conversation-store.js");
  const store = await openConversations(paths);
  for (const notice of store.notices) out.note(notice);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The same for a command about one of them. */
export async function withConversation(
  context: CommandContext,
  work: (store: SqliteConversationStore, conversation: Conversation) => Promise<void>,
): Promise<void> {
  const [id = ""] = context.args;
  const isThere = await withConversations(context, async (store) => {
    const [newest] = id === "last" ? await store.list({ limit: 1 }) : [];
    const conversation = newest ?? (await store.get(id));
    if (conversation !== undefined) await work(store, conversation);
    return conversation !== undefined;
  });
  if (isThere !== true) throw noSuch(id);
}

function noSuch(id: string) {
  return commandError("not_found", `There is no conversation ${id}`, "See: hermes sessions list");
}

/** Waits for a reader that is slower than this process. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
