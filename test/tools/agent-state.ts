import { join } from "node:path";
import { MemoryFiles } from "../../src/agent/memory/memory-files.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { earlierConversations } from "../../src/agent/sessions/sessions-host.js";
import type { HostCapabilities, TodoItem } from "../../src/tool/host-capabilities.js";
import { onTestEnd, tempDir } from "../support/runtime.js";

/** What an agent loop brings along. */
export async function agentState(): Promise<HostCapabilities> {
  let todos: readonly TodoItem[] = [];
  const home = tempDir();
  const store = await openConversations({
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
  });
  onTestEnd(() => store.close());
  const about = { source: "cli", model: "", cwd: home };
  const earlier = await store.create({ ...about, title: "Moving to PostgreSQL" });
  await store.append(earlier.id, [{ role: "user", content: "Plan the database migration for June." }]);
  const { id: current } = await store.create(about);
  return {
    todos: {
      read: () => todos,
      write: (items) => {
        todos = items;
      },
    },
    sessions: earlierConversations({ store, current, owner: "" }),
    memory: new MemoryFiles({ folder: home, maxChars: { memory: 2_200, user: 1_375 }, session: current }),
  };
}
