import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Agents } from "../../src/agent/agents.js";
import { openRoute } from "../../src/model/open-route.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { said } from "./support.js";

const PRICES = { input: 3, output: 15, cached: 0.3 };
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function agentOf(steps: readonly Step[], settings: (url: string) => string) {
  const server = await startScriptedModel({ steps });
  onTestEnd(() => server.close());
  const home = tempDir();
  writeFileSync(join(home, "config.yaml"), settings(server.url));
  // A key that lies about: nobody said that pictures are to go there.
  const env = { PATH: process.env.PATH, HOME: home, OPENAI_API_KEY: "not-to-be-used" };
  const { runtime, cwd } = await testRuntime([], { builtins: true, home, env });
  const agents = new Agents(runtime);
  onTestEnd(() => agents.close());
  const route = {
    provider: "openai",
    model: "scripted",
    url: server.url,
    idleMs: 60_000,
    foundBy: "test",
  } as const;
  const agent = await agents.open({
    model: { client: openRoute(route), name: "openai:scripted", prices: PRICES },
    approver: async () => "deny",
  });
  onTestEnd(() => agent.close());
  return { server, agent, cwd, store: await agents.conversations() };
}

describe("lesson 69: what is asked beside the conversation is on its bill", () => {
  it("a reviewer of dangerous calls", async () => {
    const { server, agent, cwd, store } = await agentOf(
      [
        { when: { tools: false }, text: '{"decision":"APPROVE","reason":"It is a build folder."}' },
        { calls: [{ name: "terminal", arguments: { command: "rm -rf build" } }] },
        { text: "Gone." },
      ],
      (url) => `approvals: { mode: smart, reviewer: { url: "${url}", model: scripted } }`,
    );
    const { result } = await said(agent, `clean up ${cwd}`);
    expect(result).toMatchObject({ text: "Gone.", tool_calls: [{ ok: true }] });
    expect(server.account.total.requests).toBe(3);
    const spent = await store.spent({ session: agent.conversation });
    expect(spent).toBeCloseTo(server.account.cost(PRICES), 10);
  });

  it("pictures: the conversation's own model looks at them unless another one is set", async () => {
    const { server, agent, cwd, store } = await agentOf(
      [
        { when: { tools: false }, text: "One dot." },
        { calls: [{ name: "vision_analyze", arguments: { image_url: "dot.png", question: "What is it?" } }] },
        { when: { last: "One dot." }, text: "It is a dot." },
      ],
      () => "{}",
    );
    writeFileSync(join(cwd, "dot.png"), Buffer.from(DOT, "base64"));
    const { result } = await said(agent, "look");
    expect(server.complaints).toEqual([]);
    expect(result).toMatchObject({ text: "It is a dot.", tool_calls: [{ ok: true }] });
    expect(server.requests.find(({ tools }) => tools.length === 0)?.messages.at(-1)?.images).toBe(1);
    expect(await store.spent({ session: agent.conversation })).toBeCloseTo(server.account.cost(PRICES), 10);
  });
});
