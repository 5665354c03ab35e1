import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agents } from "../../src/agent/agents.js";
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
  writeSkill(config.paths.skills);
  const agents = new Agents(runtime);
  onTestEnd(() => agents.close());
  const store = await agents.conversations();
  const about = { source: "cli", model: "", cwd: runtime.cwd };
  const earlier = await store.create({ ...about, title: "Moving to PostgreSQL" });
  await store.append(earlier.id, [{ role: "user", content: "Plan the database migration for June." }]);
  const { id: conversation } = await store.create(about);
  const agent = await agents.open({ conversation, ask, approver: async () => "once" });
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
