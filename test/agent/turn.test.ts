import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ModelError } from "../../src/model/model-client.js";
import { defineTool } from "../../src/tool/define.js";
import { agentWith, call, calls, played, said, says, scripted } from "./support.js";

const slow = defineTool({
  name: "slow",
  toolset: "test",
  description: "Waits until it is stopped",
  parameters: { type: "object", properties: {} },
  permissions: [],
  effects: () => [],
  handler: (_args, ctx) =>
    new Promise<string>((resolve) => {
      ctx.progress({ message: "waiting" });
      ctx.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    }),
});

describe("a turn", () => {
  it("runs what the model calls and ends with what it says", async () => {
    const model = scripted(
      calls(
        call("a", "write_file", { path: "note.txt", content: "hello" }),
        call("b", "sleep", { seconds: 0 }),
      ),
      says("Written."),
    );
    const { agent, cwd, store } = await agentWith(model);
    const { events, result } = await said(agent, "write a note");
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("hello");
    expect(result).toMatchObject({
      text: "Written.",
      stop: "end",
      turns: 2,
      model: "test:scripted",
      usage: { requests: 2, input_tokens: 200, output_tokens: 20 },
      cost_usd: null,
    });
    expect(result.tool_calls.map(({ id, name, ok }) => ({ id, name, ok }))).toEqual([
      { id: "a", name: "write_file", ok: true },
      { id: "b", name: "sleep", ok: true },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      "init",
      "tool_use",
      "tool_use",
      "tool_result",
      "tool_result",
      "text",
      "result",
    ]);
    const stored = await store.messages(agent.conversation);
    expect(stored.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
  });

  it("tells the model every id's answer in the order of its calls, also when a call is nonsense", async () => {
    const model = scripted(
      calls(
        { id: "a", name: "sleep", arguments: '{"seconds": ' },
        call("b", "no_such_tool"),
        call("c", "sleep", { seconds: 0 }),
      ),
      says("Well."),
    );
    const { agent } = await agentWith(model);
    const { result } = await said(agent, "go");
    expect(result.tool_calls.map(({ id, ok }) => [id, ok])).toHaveLength(3);
    const told = model.asked[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(told.map((message) => "toolCallId" in message && message.toolCallId)).toEqual(["a", "b", "c"]);
  });

  it("begins every request with the bytes of the one before, over many turns", async () => {
    const steps = Array.from({ length: 50 }, (_, turn) =>
      turn % 2 === 0 ? calls(call(`c${turn}`, "sleep", { seconds: 0 })) : says(`answer ${turn}`),
    );
    const model = scripted(...steps);
    const { agent } = await agentWith(model);
    for (let turn = 0; turn < 25; turn += 1) await said(agent, `message ${turn}`);
    const requests = model.asked.map(({ messages, tools }) => ({
      messages: JSON.stringify(messages),
      tools: JSON.stringify(tools),
    }));
    expect(requests).toHaveLength(50);
    for (const [index, { messages, tools }] of requests.entries()) {
      expect(tools).toBe(requests[0]?.tools);
      const before = requests[index - 1]?.messages;
      if (before !== undefined) expect(messages.startsWith(before.slice(0, -1))).toBe(true);
    }
  });

  it("never runs what a stream that broke off had half said, and asks again", async () => {
    const model = scripted(async function* () {
      yield { type: "text", text: "I will " };
      yield { type: "tool_call_begun", id: "x", name: "write_file" };
      yield { type: "tool_call", call: call("x", "write_file", { path: "half.txt", content: "no" }) };
      throw new ModelError("broken_off", "the connection was closed");
    }, says("Better now."));
    const { agent, cwd, store } = await agentWith(model);
    const { result, events } = await said(agent, "go");
    expect(existsSync(join(cwd, "half.txt"))).toBe(false);
    expect(result).toMatchObject({ text: "Better now.", stop: "end", tool_calls: [] });
    expect(events).toContainEqual(expect.objectContaining({ type: "notice" }));
    expect((await store.messages(agent.conversation)).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
    ]);
  });

  it("is stopped while a call runs: the call is answered, the conversation goes on", async () => {
    const model = scripted(calls(call("a", "slow"), call("b", "slow")), says("Fine."));
    const { agent } = await agentWith(model, { tools: [slow] });
    const events = agent.send("wait");
    const { result } = await played(
      (async function* () {
        for await (const event of events) {
          if (event.type === "tool_progress") void agent.stop();
          yield event;
        }
      })(),
    );
    expect(result).toMatchObject({ stop: "interrupted" });
    expect(result.tool_calls).toHaveLength(2);
    const { result: next } = await said(agent, "and now?");
    expect(next).toMatchObject({ text: "Fine.", stop: "end" });
    const told = model.asked[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(told).toHaveLength(2);
  });

  it("hears what is said meanwhile before it asks the model again", async () => {
    const model = scripted(calls(call("a", "sleep", { seconds: 0 })), says("Done."));
    const { agent } = await agentWith(model);
    const events: string[] = [];
    for await (const event of agent.send("go")) {
      events.push(event.type);
      if (event.type === "tool_use") expect(agent.steer("and be quick")).toBe(true);
    }
    expect(JSON.stringify(model.asked[1]?.messages.at(-1))).toContain("and be quick");
    expect(agent.steer("too late")).toBe(false);
  });

  it("ends after its turns, and after the same failure three times", async () => {
    const endless = scripted(
      ...Array.from({ length: 5 }, (_, n) => calls(call(`c${n}`, "sleep", { seconds: 0 }))),
    );
    const { agent } = await agentWith(endless, { maxTurns: 3 });
    expect((await said(agent, "go")).result).toMatchObject({ stop: "max_turns", turns: 3 });
    const stuck = scripted(
      ...Array.from({ length: 9 }, (_, n) => calls(call(`c${n}`, "read_file", { path: "missing" }))),
    );
    const { agent: other } = await agentWith(stuck);
    expect((await said(other, "go")).result).toMatchObject({ stop: "error", turns: 3 });
  });

  it("waits when the money is used up, and goes on when there is more", async () => {
    // A thousand tokens are kept back for an answer: the first request just fits.
    let limit = 0.001;
    const model = scripted(calls(call("a", "sleep", { seconds: 0 })), says("Done."));
    const { agent } = await agentWith(model, {
      prices: { input: 0, output: 1 },
      budget: () => ({ sessionUsd: limit }),
    });
    const { result } = await said(agent, "go");
    expect(result).toMatchObject({ stop: "budget", turns: 1 });
    expect(result.cost_usd).toBeCloseTo(0.00001, 8);
    limit = 1;
    expect((await played(agent.resume())).result).toMatchObject({ stop: "end", text: "Done." });
  });
});

describe("a turn that was cut off", () => {
  it("is gone on with: what was answered stays, what was running is unknown and is not run again", async () => {
    const first = scripted(
      calls(call("a", "write_file", { path: "one.txt", content: "1" }), call("b", "slow")),
    );
    const { agent, store, home, cwd } = await agentWith(first, { tools: [slow] });
    for await (const event of agent.send("go")) if (event.type === "tool_result") break;
    // As after a crash: nobody ends the turn, another process takes the conversation up.
    const second = scripted(says("I will look."));
    const { agent: later } = await agentWith(second, {
      home,
      store: { ...bound(store), begin: async () => true },
      conversation: agent.conversation,
      tools: [slow],
      cwd,
    });
    expect(await later.isFinished()).toBe(false);
    const { result } = await played(later.resume());
    expect(result).toMatchObject({ text: "I will look.", tool_calls: [] });
    const told = second.asked[0]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(told).toHaveLength(2);
    expect(JSON.stringify(told[0])).not.toContain("unknown");
    expect(JSON.stringify(told[1])).toContain('\\"status\\":\\"unknown\\"');
  });
});

/** The store's own methods, so that single ones can be replaced. */
function bound<T extends object>(object: T): T {
  return new Proxy(object, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    ownKeys: (target) => Reflect.ownKeys(Object.getPrototypeOf(target) as object),
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
}
