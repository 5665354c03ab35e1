import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentOnServer, agentWith, call, calls, said, scripted } from "./support.js";

const notices = (events: readonly { readonly type: string; readonly message?: unknown }[]) =>
  events.filter(({ type }) => type === "notice").map(({ message }) => String(message));

describe("lesson 61: what leads nowhere ends", () => {
  it("a call that is denied is made three times, then the turn is over", async () => {
    const command = { command: "rm -rf /etc" };
    const { agent, server } = await agentOnServer(
      [{ calls: [{ name: "terminal", arguments: command }], repeat: "always" }],
      { approver: async () => "deny" },
    );
    const { result, events } = await said(agent, "go");
    expect(result).toMatchObject({ stop: "error", turns: 3, error: { code: "stuck" } });
    expect(result.tool_calls.map(({ error }) => error?.code)).toEqual(["denied", "denied", "denied"]);
    expect(notices(events).join()).toContain("three times");
    expect(server.requests).toHaveLength(3);
  });

  it("a model that repeats itself in one answer has not seen it fail yet", async () => {
    const { agent } = await agentOnServer([
      { calls: [{ name: "read_file", arguments: { path: "missing" }, times: 5 }] },
      { text: "It is not there." },
    ]);
    expect((await said(agent, "go")).result).toMatchObject({ stop: "end", turns: 2 });
  });

  it("money and steps are counted before a request, not behind it", async () => {
    const { agent, server } = await agentOnServer([{ text: "never" }], {
      prices: { input: 1, output: 1_000 },
      budget: () => ({ sessionUsd: 0.5 }),
    });
    expect((await said(agent, "go")).result).toMatchObject({ stop: "budget", turns: 0 });
    expect(server.requests).toHaveLength(0);
  });
});

describe("lesson 62: a model that only thinks", () => {
  it("and stops: that is its answer, and nobody pays for another one", async () => {
    for (const provider of ["openai", "anthropic"] as const) {
      const { agent, server } = await agentOnServer([{ reasoning: "It is 42." }, { text: "As I said." }], {
        provider,
      });
      expect((await said(agent, "go")).result).toMatchObject({ text: "It is 42.", stop: "end", turns: 1 });
      expect((await said(agent, "again")).result.text).toBe("As I said.");
      expect(server.complaints).toEqual([]);
      expect(server.requests).toHaveLength(2);
    }
  });

  it("and is cut off, or says nothing at all: it is asked once more, then people are told", async () => {
    const { agent, server } = await agentOnServer([
      { reasoning: "Hm", finish: "length" },
      { text: "" },
      { text: "never" },
    ]);
    const { result, events } = await said(agent, "go");
    expect(result).toMatchObject({ text: "", stop: "end", turns: 2 });
    expect(notices(events).at(-1)).toContain("nothing again");
    expect(server.requests).toHaveLength(2);
  });

  it("rungs of retries are not multiplied by each other", async () => {
    const { agent, server } = await agentOnServer([{ text: "", afterwards: "break_off", repeat: "always" }]);
    const { result, events } = await said(agent, "go");
    expect(result.stop).toBe("error");
    expect(events).toContainEqual(expect.objectContaining({ type: "error", code: "model_broken_off" }));
    expect(server.requests).toHaveLength(6);
  });
});

describe("lesson 59: a stream that fails in the middle", () => {
  it.each(["break_off", "error"] as const)(
    "%s: the step is asked for again, finished results are kept",
    async (end) => {
      const half = { path: "half.txt", content: "half" };
      const { agent, server, cwd } = await agentOnServer(
        [
          { calls: [{ id: "done", name: "write_file", arguments: { path: "done.txt", content: "done" } }] },
          { text: "I go on", calls: [{ name: "write_file", arguments: half }], afterwards: end },
          { text: "All is written." },
        ],
        { provider: "anthropic" },
      );
      const { result } = await said(agent, "go");
      expect(result).toMatchObject({ text: "All is written.", stop: "end", tool_calls: [{ id: "done" }] });
      expect(existsSync(join(cwd, "half.txt"))).toBe(false);
      const [, broken, again] = server.requests;
      expect(again?.body).toEqual(broken?.body);
    },
  );
});

describe("lesson 52: a call that was cut off", () => {
  it("never runs; the model is told to write in parts, twice at most", async () => {
    const cut = { calls: [{ name: "write_file", arguments: { path: "a.txt", content: "long text" } }] };
    const { agent, server, cwd } = await agentOnServer([{ ...cut, finish: "length", repeat: "always" }]);
    const { result } = await said(agent, "go");
    expect(result).toMatchObject({ stop: "error", turns: 2, tool_calls: [], error: { code: "no_answer" } });
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(server.requests[1]?.messages.at(-1)?.text).toContain("Write in parts");
  });
});

it("an id that a model uses again means the call right before its answer", async () => {
  const write = (n: number) => calls(call("same", "write_file", { path: `${n}.txt`, content: String(n) }));
  const model = scripted(write(1), write(2), calls(call("same", "read_file", { path: "1.txt" })), [
    { type: "text", text: "Fine." },
    { type: "finish", reason: "stop" },
  ]);
  const { agent } = await agentWith(model);
  expect((await said(agent, "go")).result.text).toBe("Fine.");
  const told = (model.asked[3]?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [JSON.stringify(message.content)] : [],
  );
  expect(told.map((text) => /[12]\.txt/.exec(text)?.[0])).toEqual(["1.txt", "2.txt", "1.txt"]);
  expect(JSON.stringify(model.asked[2]?.messages)).toContain(
    JSON.stringify(model.asked[1]?.messages).slice(1, -1),
  );
});
