import { join } from "node:path";
import {
  openConversations,
  type SqliteConversationStore,
} from "../../../src/agent/sessions/conversation-store.js";
import type { NewMessage } from "../../../src/agent/sessions/types.js";
import { onTestEnd, tempDir } from "../../support/runtime.js";

export function filesIn(folder: string): { readonly sessionsDb: string; readonly sessionsIndex: string } {
  return { sessionsDb: join(folder, "sessions.db"), sessionsIndex: join(folder, "sessions-index.db") };
}

/** Closed with the test; several may be open on one folder. */
export async function conversations(folder = tempDir()): Promise<SqliteConversationStore> {
  const store = await openConversations(filesIn(folder));
  onTestEnd(() => store.close());
  return store;
}

export const ABOUT = { source: "cli", model: "test-model", cwd: "/work" };

export const says = (content: string, role: NewMessage["role"] = "user"): NewMessage => ({ role, content });

/** A new conversation with these words of its user. */
export async function talk(
  store: SqliteConversationStore,
  words: readonly string[],
  about: { readonly owner?: string; readonly parent?: string; readonly source?: string } = {},
): Promise<string> {
  const { id } = await store.create({ ...ABOUT, ...about });
  await store.append(
    id,
    words.map((text) => says(text)),
  );
  return id;
}
