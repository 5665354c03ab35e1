// The built agent with a home of its own, for whatever measures it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { memoryConversations } from "./memory-conversations.mjs";

/**
 * `tools`: registrations in place of the built-in tools. `journal: false`: neither calls nor messages are written down.
 * `open({ client })` opens a new conversation with that model.
 */
export async function hermesAgents({ dist, tools, journal = true }) {
  const load = (name) => import(pathToFileURL(join(dist, name)).href);
  const { createAgent, createRuntime, ToolRegistry, chatCompletionsClient } = await load("index.js");
  const { openConversations } = await load("agent/sessions.js");
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  // Nobody is asked: a person who thinks about it is not what is measured.
  writeFileSync(join(home, "config.yaml"), "approvals:\n  mode: off\n");
  const registry = new ToolRegistry();
  for (const registration of tools ?? []) registry.register(registration);
  const runtime = await createRuntime({
    registry,
    home,
    cwd,
    systemDir: join(home, "system"),
    builtins: tools === undefined,
    userTools: false,
    journal,
  });
  const store = journal
    ? await openConversations({
        sessionsDb: join(home, "sessions.db"),
        sessionsIndex: join(home, "sessions-index.db"),
      })
    : memoryConversations();
  return {
    cwd,
    /** `key` tells the server's clients apart. */
    client: ({ url, script, key }) => chatCompletionsClient({ url, model: script, apiKey: key }),
    open: ({ client, ...options }) =>
      createAgent({ runtime, store, model: { client, name: "bench:scripted" }, ...options }),
    async close() {
      await store.close();
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Says something and waits for the end; answers with the result. */
export async function said(agent, message) {
  let last;
  let trouble;
  for await (const event of agent.send(message)) {
    last = event;
    if (event.type === "error") trouble = event;
  }
  if (last?.type !== "result" || last.stop !== "end" || last.tool_calls.some(({ ok }) => !ok))
    throw new Error(`the agent did not come to its end: ${JSON.stringify(trouble ?? last).slice(0, 2_000)}`);
  return last;
}
