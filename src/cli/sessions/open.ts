import { once } from "node:events";
import { existsSync } from "node:fs";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import type { Conversation } from "../../agent/sessions/types.js";
import { hermesPaths } from "../../config/paths.js";
import type { SharedLog } from "../../store/shared-log.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

/** `log`: other machines that have to know. */
type SessionsContext = CommandContext & { readonly log?: SharedLog | undefined };

/** Gives a command the conversations of this home and closes them afterwards; undefined where there are none yet. */
export async function withConversations<Result>(
  { home, out, log }: SessionsContext,
  work: (store: SqliteConversationStore) => Promise<Result>,
): Promise<Result | undefined> {
  const paths = hermesPaths(home);
  // Looking leaves nothing behind.
  if (!existsSync(paths.sessionsDb)) return undefined;
  const { openConversations } = await import("../../agent/sessions/conversation-store.js");
  const store = await openConversations(paths, { log });
  for (const notice of store.notices) out.note(notice);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** What `last` stands for. */
export async function newestIfLast(
  store: Pick<SqliteConversationStore, "list">,
  id: string,
): Promise<string | undefined> {
  const [newest] = id === "last" ? await store.list({ limit: 1 }) : [];
  return newest?.id;
}

/** The same for a command about one of them. */
export async function withConversation(
  context: SessionsContext,
  work: (store: SqliteConversationStore, conversation: Conversation) => Promise<void>,
): Promise<void> {
  const [id = ""] = context.args;
  const find = async (store: SqliteConversationStore) => {
    const conversation = await store.get((await newestIfLast(store, id)) ?? id);
    if (conversation !== undefined) await work(store, conversation);
    return conversation !== undefined;
  };
  const isThere = await withConversations(context, find);
  if (isThere !== true) throw noSuch(id);
}

function noSuch(id: string) {
  return commandError("not_found", `There is no conversation ${id}`, "See: hermes sessions list");
}

/** Waits for a reader that is slower than this process. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
