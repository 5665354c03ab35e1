import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { onTestEnd } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { agentOnServer, played, said } from "./support.js";

const STEPS: readonly Step[] = [
  {
    text: "I look first.",
    calls: [
      { id: "a", name: "write_file", arguments: { path: "a.txt", content: "a" } },
      { id: "b", name: "sleep", arguments: { seconds: 0.01 } },
      { id: "c", name: "read_file", arguments: { path: "missing.txt" } },
    ],
  },
  { reasoning: "Now the rest.", calls: [{ id: "d", name: "sleep", arguments: { seconds: 0.01 } }] },
  { text: "Done." },
];

/** Stopped as soon as this many events have come; what was seen until then, and after. */
async function stoppedAfter(count: number, provider: "openai" | "anthropic") {
  const server = await startScriptedModel({
    answer: ({ messages }) => {
      const isNext = messages.some(({ role, text }) => role === "user" && text.includes("and now?"));
      const answers = messages.filter(({ role }) => role === "assistant").length;
      return isNext ? { text: "Here I am." } : (STEPS[Math.min(answers, 2)] ?? { text: "?" });
    },
  });
  onTestEnd(() => server.close());
  const { agent, store } = await agentOnServer([], { provider, server });
  const events: AgentEvent[] = [];
  for await (const event of agent.send("go")) {
    events.push(event);
    if (events.length === count) void agent.stop();
  }
  return { events, agent, store, server };
}

describe("a turn is stopped at any moment", () => {
  it.each(["openai", "anthropic"] as const)(
    "every id is answered, and the conversation goes on (%s)",
    async (provider) => {
      const whole = await stoppedAfter(Number.POSITIVE_INFINITY, provider);
      expect(whole.events.at(-1)).toMatchObject({ type: "result", stop: "end", text: "Done." });
      for (let count = 1; count < whole.events.length; count += 2) {
        const { agent, events, store, server } = await stoppedAfter(count, provider);
        const result = events.at(-1);
        expect(result).toMatchObject({ type: "result" });
        const stored = await store.messages(agent.conversation);
        const made = stored.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
        const answered = stored.flatMap(({ toolCallId }) => toolCallId ?? []);
        expect([...new Set(answered)].sort()).toEqual([...new Set(made)].sort());
        expect((await said(agent, "and now?")).result.text).toBe("Here I am.");
        expect(server.complaints).toEqual([]);
        await agent.close();
      }
    },
  );
});

describe("lesson 56: a kill leaves calls without results", () => {
  it("on load each becomes unknown, written back once, and nothing is run again", async () => {
    const { agent, store, home, cwd, server } = await agentOnServer([
      { text: "I look." },
      { text: "And again." },
    ]);
    // As a program leaves it that is killed behind the model's answer, before any result.
    await store.append(agent.conversation, [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "",
        toolCalls: [
          { id: "w", name: "write_file", arguments: '{"path":"w.txt","content":"w"}' },
          { id: "r", name: "read_file", arguments: '{"path":"w.txt"}' },
        ],
      },
      { role: "tool", toolCallId: "r", name: "read_file", content: "nothing there", isError: true },
    ]);
    await agent.close();
    const { agent: later } = await agentOnServer([], {
      server,
      store,
      home,
      cwd,
      conversation: agent.conversation,
    });
    expect(await later.isFinished()).toBe(false);
    const { result } = await played(later.resume());
    expect(result).toMatchObject({ text: "I look.", tool_calls: [] });
    expect((await said(later, "go on")).result.text).toBe("And again.");
    expect(server.complaints).toEqual([]);
    const rows = (await store.messages(agent.conversation)).filter(({ role }) => role === "tool");
    expect(rows.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ["r", true],
      ["w", true],
    ]);
    expect(JSON.parse(String(rows[1]?.content))).toMatchObject({ status: "unknown" });
  });
});
