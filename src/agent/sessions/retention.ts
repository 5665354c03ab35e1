import { setImmediate as nextTurn } from "node:timers/promises";
import { HermesError } from "../../tool/errors.js";
import {
  type ConversationFiles,
  openConversations,
  type SqliteConversationStore,
} from "./conversation-store.js";

const DAY_MS = 86_400_000;

export interface Retention {
  /** Conversations that rested longer are deleted; 0 keeps them for ever. */
  readonly days: number;
  /** Room for all messages; those that rested longest leave first. */
  readonly maxBytes: number;
}

/** Opens the conversations for as long as that takes. */
export async function applyRetention(
  files: ConversationFiles,
  retention: Retention & { tell(notice: string): void },
): Promise<number> {
  const store = await openConversations(files);
  for (const notice of store.notices) retention.tell(notice);
  try {
    return await pruneConversations(store, retention);
  } finally {
    await store.close();
  }
}

/** Deletes what is kept no longer, with what belongs to it; never what is being worked on. Answers with how many. */
export async function pruneConversations(
  store: SqliteConversationStore,
  { days, maxBytes }: Retention,
  now = Date.now(),
): Promise<number> {
  let bytes = store.queries.bytes();
  let deleted = 0;
  for (const family of store.queries.families()) {
    const isOld = days > 0 && family.updatedAt < now - days * DAY_MS;
    if (!isOld && bytes <= maxBytes) break;
    if (await deletedUnlessBusy(store, family.id)) {
      deleted += 1;
      bytes -= family.bytes;
    }
    await nextTurn();
  }
  return deleted;
}

async function deletedUnlessBusy(store: SqliteConversationStore, id: string): Promise<boolean> {
  try {
    return await store.delete(id);
  } catch (error) {
    if (error instanceof HermesError && error.code === "unavailable") return false;
    throw error;
  }
}
