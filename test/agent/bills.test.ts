import { describe, expect, it } from "vitest";
import { raiseBudget } from "../../src/agent/raise-budget.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { hermesPaths } from "../../src/config/paths.js";
import { onTestEnd } from "../support/runtime.js";
import { agentOnServer, played, said } from "./support.js";

const PRICES = { input: 3, output: 15, cached: 0.3 };
const long = (words: string) => `${words} ${"and so on ".repeat(400)}`;

describe("lesson 69: every request has a purpose and a bill", () => {
  it.each(["openai", "anthropic"] as const)(
    "turns, retries, children and summaries: the sum is what the server has in its books (%s)",
    async (provider) => {
      const child = { system: "another agent has given one task" };
      const { agent, store, server } = await agentOnServer(
        [
          { when: { tools: false }, text: "They talked about parts." },
          {
            when: { ...child, last: "part" },
            calls: [{ name: "sleep", arguments: { seconds: 0 } }],
            repeat: 2,
          },
          { when: child, text: "Done.", repeat: 2 },
          {
            when: { last: "split it" },
            calls: [
              { name: "delegate_task", arguments: { tasks: [{ goal: "part a" }, { goal: "part b" }] } },
            ],
          },
          { when: { last: "Done." }, text: "Both are done." },
          { when: { last: "busy" }, status: 529, error: "Overloaded" },
          { when: { last: "busy" }, text: "Here." },
          { when: { last: "too much" }, status: 400, error: "prompt is too long" },
          { when: { last: "too much" }, text: "Shorter now." },
        ],
        { provider, prices: PRICES },
      );
      let [requests, cost] = [0, 0];
      for (const words of [long("split it"), "busy", long("too much")]) {
        const { result } = await said(agent, words);
        expect(result.stop).toBe("end");
        requests += result.usage.requests;
        cost += result.cost_usd ?? Number.NaN;
      }
      expect([server.complaints, server.unused]).toEqual([[], []]);
      const spent = await store.spent({ session: agent.conversation });
      expect(spent).toBeCloseTo(server.account.cost(PRICES), 10);
      expect(server.account.total.cachedTokens).toBeGreaterThan(0);
      // What children spend is what the turn cost that sent them.
      expect(server.account.total.requests).toBe(requests);
      expect(cost).toBeCloseTo(spent, 10);
    },
  );
});

describe("lesson 124: a budget that holds", () => {
  it("is set aside before each request, parks the work, and goes on when it is raised", async () => {
    let limit = 0;
    const { agent, server, store } = await agentOnServer(
      [
        {
          calls: [{ id: "a", name: "sleep", arguments: { seconds: 0 } }],
          usage: { input: 9, output: 1_000 },
        },
        { text: "Done." },
      ],
      // A request sets aside a dollar, and the first one takes it.
      { prices: { input: 0, output: 1_000 }, budget: () => ({ sessionUsd: limit }) },
    );
    // Nothing is asked when there is no money for it.
    expect((await said(agent, "go")).result).toMatchObject({ stop: "budget", turns: 0 });
    expect(server.requests).toHaveLength(0);
    limit = 1.5;
    const parked = await played(agent.resume());
    expect(parked.result.turns).toBe(1);
    expect(parked.result).toMatchObject({ stop: "budget", tool_calls: [{ id: "a", ok: true }] });
    expect(JSON.stringify(parked.events)).toContain(`hermes sessions budget ${agent.conversation} AMOUNT`);
    expect(await store.spent({ session: agent.conversation })).toBeLessThanOrEqual(limit);
    limit = 3;
    expect((await played(agent.resume())).result).toMatchObject({ stop: "end", text: "Done." });
    expect(server.complaints).toEqual([]);
  });

  it("is raised by another process while this one works, for one conversation or for a day", async () => {
    const { agent, store, home, server } = await agentOnServer([{ text: "Done." }], {
      prices: { input: 0, output: 1_000 },
      budget: () => ({ sessionUsd: 0.5, dayUsd: 0.5 }),
    });
    const elsewhere = await openConversations(hermesPaths(home));
    onTestEnd(() => elsewhere.close());
    const session = { session: agent.conversation };
    const budget = { sessionUsd: 0.5, dayUsd: 0.5 };
    expect((await said(agent, "go")).result).toMatchObject({ stop: "budget", turns: 0 });
    // Neither the same nor less is a raise, and where there is no budget there is nothing to raise.
    expect(await raiseBudget({ store: elsewhere, budget, of: session }, 0.5)).toMatchObject({
      code: "bad_request",
    });
    expect(await raiseBudget({ store: elsewhere, budget: {}, of: session }, 2)).toMatchObject({
      code: "bad_request",
    });
    expect(await raiseBudget({ store: elsewhere, budget, of: session }, 2)).toEqual({
      spent_usd: 0,
      budget_usd: 2,
    });
    // The day's budget does not hold it yet.
    const { result, events } = await played(agent.resume());
    expect(result.stop).toBe("budget");
    expect(JSON.stringify(events)).toContain("hermes sessions budget day AMOUNT");
    expect(await raiseBudget({ store: elsewhere, budget, of: { dayOf: Date.now() } }, 3)).toMatchObject({
      budget_usd: 3,
    });
    expect((await played(agent.resume())).result.text).toBe("Done.");
    expect(await store.raisedBudget({ dayOf: Date.now() - 2 * 86_400_000 })).toBeUndefined();
    expect(server.requests).toHaveLength(1);
  });

  it("of a day counts all conversations", async () => {
    let limit = 1;
    const options = { prices: PRICES, budget: () => ({ dayUsd: limit }) };
    const { agent, server, store, home, cwd } = await agentOnServer(
      [{ text: "One." }, { text: "Two." }],
      options,
    );
    expect((await said(agent, "go")).result.stop).toBe("end");
    limit = await store.spent({ since: 0 });
    const { agent: other } = await agentOnServer([], { ...options, server, store, home, cwd });
    const { result, events } = await said(other, "go");
    expect(result).toMatchObject({ stop: "budget", turns: 0 });
    expect(JSON.stringify(events)).toContain("for today");
    limit = 1;
    expect((await played(other.resume())).result.text).toBe("Two.");
  });

  it("is one for a whole tree: children that ask at the same time do not spend the same dollar", async () => {
    const goals = ["a", "b", "c"].map((goal) => ({ goal: `part ${goal}` }));
    const { agent, store, server } = await agentOnServer(
      [
        { when: { last: "go" }, calls: [{ name: "delegate_task", arguments: { tasks: goals } }] },
        // Slow, so that all of them are under way at once.
        {
          when: { last: "part" },
          text: "Done.",
          waitMs: 50,
          usage: { input: 1_000, output: 1_000 },
          repeat: 3,
        },
        { text: "never" },
      ],
      // Each request sets aside a dollar or a little more; three do not fit.
      { prices: { input: 0, output: 1_000 }, budget: () => ({ sessionUsd: 2.5 }) },
    );
    const { result, events } = await said(agent, "go");
    const told = events.find((event) => event.type === "tool_result");
    expect(JSON.stringify(told).match(/budget is used up/g)?.length).toBeGreaterThanOrEqual(1);
    expect(result.stop).toBe("budget");
    expect(await store.spent({ session: agent.conversation })).toBeLessThanOrEqual(2.5);
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  it("that cannot be kept, because nobody knows a price, is told", async () => {
    const { agent } = await agentOnServer([{ text: "Hi." }], { budget: () => ({ sessionUsd: 1 }) });
    expect(JSON.stringify((await said(agent, "go")).events)).toContain("The budget does not hold");
  });
});
