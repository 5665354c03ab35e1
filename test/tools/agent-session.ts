import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAgent } from "../../src/agent/agent.js";
import { configuredModel } from "../../src/agent/configured-model.js";
import { MemoryFiles } from "../../src/agent/memory/memory-files.js";
import { modelsForOpinions } from "../../src/agent/mixture.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { earlierConversations } from "../../src/agent/sessions/sessions-host.js";
import { skillsOf } from "../../src/agent/skills/prompt-text.js";
import type { Runtime } from "../../src/runtime/runtime.js";
import type { Session } from "../../src/runtime/session.js";
import type { CallContext } from "../../src/tool/tool.js";
import { onTestEnd } from "../support/runtime.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

/** A model that has one thing to say, and the settings that lead to it. */
export async function talkativeModel(): Promise<Readonly<Record<string, unknown>>> {
  const server = await startScriptedModel({ answer: () => ({ text: "That is done." }) });
  onTestEnd(() => server.close());
  return {
    "model.provider": "compatible",
    "model.name": "scripted",
    "model.base_url": server.url,
    "model.api_key": "test-key",
  };
}

/** The session of an agent with all that it brings along: earlier conversations, memory, skills, children, models. */
export async function agentSession(runtime: Runtime, ask: CallContext["ask"]): Promise<Session> {
  const { config } = runtime;
  const model = await configuredModel(config);
  if ("fixes" in model) throw new Error(model.reason);
  writeSkill(config.paths.skills);
  const store = await openConversations(config.paths);
  onTestEnd(() => store.close());
  const about = { source: "cli", model: "", cwd: runtime.cwd };
  const earlier = await store.create({ ...about, title: "Moving to PostgreSQL" });
  await store.append(earlier.id, [{ role: "user", content: "Plan the database migration for June." }]);
  const { id: conversation } = await store.create(about);
  const agent = await openAgent({
    runtime,
    store,
    model,
    conversation,
    ask,
    approver: () => "once",
    memory: new MemoryFiles({
      folder: config.paths.memories,
      maxChars: { memory: 2_200, user: 1_375 },
      session: conversation,
    }),
    sessions: earlierConversations({ store, current: conversation, owner: "" }),
    ...(await skillsOf(config)),
    models: (payer) => modelsForOpinions({ config, model, store, payer, budget: () => ({}) }),
  });
  onTestEnd(() => agent.close());
  return agent.session;
}

function writeSkill(folder: string): void {
  const path = join(folder, "office", "meeting-notes");
  mkdirSync(join(path, "references"), { recursive: true });
  writeFileSync(
    join(path, "SKILL.md"),
    "---\nname: meeting-notes\ndescription: How notes of a meeting are written here\n---\nDecisions first, then who does what.\n",
  );
  writeFileSync(join(path, "references", "example.md"), "# Kickoff, 3 May\n");
}
