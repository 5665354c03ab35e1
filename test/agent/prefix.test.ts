import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { Recorded } from "../support/scripted-model/server.js";
import { agentOnServer, said } from "./support.js";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");

/** What two requests have in common when the second only adds to the first. */
function prefixHash(request: Recorded, parts: number): string {
  return hash(request.prompt.slice(0, parts).join("\0"));
}

it.each(["openai", "anthropic"] as const)(
  "lesson 66: over 50 turns and a resume each request begins with the bytes of the one before (%s)",
  async (provider) => {
    const steps = [
      {
        calls: [{ name: "sleep", arguments: { seconds: 0 } }],
        when: { last: "tool, please" },
        repeat: "always",
      },
      { reasoning: "Well.", text: "Yes.", repeat: "always" },
    ] as const;
    const { agent, store, server, home, cwd } = await agentOnServer(steps, { provider });
    for (let turn = 0; turn < 25; turn += 1)
      await said(agent, turn % 5 === 0 ? `${turn}: a tool, please` : `${turn}: hello`);
    await agent.close();
    // Another program, as after a crash or on the next day.
    const { agent: later } = await agentOnServer([], {
      provider,
      server,
      store,
      home,
      cwd,
      conversation: agent.conversation,
    });
    for (let turn = 25; turn < 50; turn += 1) await said(later, `${turn}: hello`);
    expect(server.complaints).toEqual([]);
    expect(server.requests).toHaveLength(55);
    for (const [at, request] of server.requests.entries()) {
      const before = server.requests[at - 1];
      if (before === undefined) continue;
      expect(prefixHash(request, before.prompt.length)).toBe(prefixHash(before, before.prompt.length));
      expect(request.knownPrefix).toBe(before.promptLength);
    }
    // And so the server's own account: nearly all that was read was known.
    const { inputTokens, cachedTokens } = server.account.total;
    const first = server.account.bills[0]?.inputTokens ?? 0;
    expect(cachedTokens).toBeGreaterThan((inputTokens - first) * 0.95);
  },
);

it("lesson 66: the prompt holds no clock, and what is said meanwhile comes last", async () => {
  const { agent, server } = await agentOnServer([
    { calls: [{ name: "sleep", arguments: { seconds: 0 } }] },
    { text: "Done." },
  ]);
  for await (const event of agent.send("go")) if (event.type === "tool_use") agent.steer("be quick");
  const [first, second] = server.requests;
  expect(first?.messages[0]?.text).not.toMatch(/\d{1,2}:\d{2}|20\d\d-\d\d/);
  expect(second?.messages.at(-1)).toMatchObject({ role: "user", text: "be quick" });
  expect(second?.knownPrefix).toBe(first?.promptLength);
});

it("opaque parts of an answer go back byte for byte, and only to the model they came from", async () => {
  const { agent, store, server, home, cwd } = await agentOnServer(
    [{ reasoning: "Signed by one.", text: "One." }, { text: "Two." }, { text: "Three." }],
    { provider: "anthropic", model: "first" },
  );
  await said(agent, "one");
  await agent.close();
  const shared = {
    provider: "anthropic",
    server,
    store,
    home,
    cwd,
    conversation: agent.conversation,
  } as const;
  const { agent: other } = await agentOnServer([], { ...shared, model: "second" });
  await said(other, "two");
  await other.close();
  const { agent: back } = await agentOnServer([], { ...shared, model: "first" });
  await said(back, "three");
  expect(server.complaints).toEqual([]);
  expect(server.requests.map(({ body }) => JSON.stringify(body).includes("Signed by one."))).toEqual([
    false,
    false,
    true,
  ]);
});
