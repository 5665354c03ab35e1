import { expect, it } from "vitest";
import type { ModelClient, ModelRequest } from "../../src/model/model-client.js";
import { defineTool } from "../../src/tool/define.js";
import { agentWith, call, calls, played, said, says } from "./support.js";

const FINISH = { type: "finish", reason: "stop", usage: { inputTokens: 50, outputTokens: 5 } } as const;

/** The parent hands on; children are told apart by what they were given. */
function family(
  child: (goal: string, request: ModelRequest) => AsyncIterable<never> | readonly unknown[],
): ModelClient & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    asked,
    async *stream(request) {
      asked.push(request);
      const first = request.messages.find(({ role }) => role === "user");
      const words = typeof first?.content === "string" ? first.content : "";
      if (words.startsWith("child")) {
        yield* child(words, request) as readonly never[];
        return;
      }
      const answered = request.messages.some(({ role }) => role === "tool");
      const step = answered
        ? says("All done.")
        : calls(
            call("d", "delegate_task", {
              tasks: [{ goal: "child one" }, { goal: "child two" }, { goal: "child three" }],
            }),
          );
      yield* step as readonly never[];
    },
  };
}

it("three children work with fewer tools; their parent gets their summaries and pays for them", async () => {
  const model = family((goal) => [{ type: "text", text: `${goal} is finished` }, FINISH]);
  const { agent, store } = await agentWith(model, {
    prices: { input: 10, output: 10 },
    budget: () => ({ sessionUsd: 1 }),
  });
  const { result, events } = await said(agent, "go");
  expect(result).toMatchObject({ text: "All done.", stop: "end" });
  const told = events.find((event) => event.type === "tool_result");
  expect(told).toMatchObject({ ok: true });
  const answer = JSON.parse(JSON.stringify(told)).content[0].text;
  for (const goal of ["child one", "child two", "child three"])
    expect(answer).toContain(`${goal} is finished`);
  const children = model.asked.filter(({ messages }) => JSON.stringify(messages[1]).includes("child"));
  expect(children).toHaveLength(3);
  for (const { tools = [] } of children) {
    const names = tools.map(({ name }) => name);
    expect(names).toContain("read_file");
    for (const blocked of ["delegate_task", "clarify", "memory", "send_message", "execute_code", "cronjob"])
      expect(names).not.toContain(blocked);
  }
  const kin = await store.list({ children: true });
  expect(kin.filter(({ parent }) => parent === agent.conversation)).toHaveLength(3);
  expect(await store.spent({ session: agent.conversation })).toBeCloseTo((2 * 110 + 3 * 55) * 1e-5);
});

it("a child that fails is told as failed, the others are not", async () => {
  const model = family((goal) => {
    if (goal.includes("two")) throw new Error("this one cannot");
    return [{ type: "text", text: "fine" }, FINISH];
  });
  const { agent } = await agentWith(model);
  const { events } = await said(agent, "go");
  const told = events.find((event) => event.type === "tool_result");
  const { results } = JSON.parse(
    told?.type === "tool_result" && told.content[0]?.type === "text" ? told.content[0].text : "{}",
  );
  expect(results.map(({ status }: { status: string }) => status)).toEqual([
    "completed",
    "failed",
    "completed",
  ]);
});

it("stopping the parent stops the children", async () => {
  const waiting = defineTool({
    name: "waiting",
    toolset: "test",
    description: "Waits",
    parameters: { type: "object", properties: {} },
    permissions: [],
    effects: () => [],
    handler: (_args, ctx) =>
      new Promise<string>((resolve) =>
        ctx.signal.addEventListener("abort", () => resolve("over"), { once: true }),
      ),
  });
  const model = family(() => calls(call("w", "waiting")) as readonly unknown[]);
  const { agent, store } = await agentWith(model, { tools: [waiting] });
  const { result } = await played(
    (async function* () {
      for await (const event of agent.send("go")) {
        if (event.type === "tool_progress") void agent.stop();
        yield event;
      }
    })(),
  );
  expect(result.stop).toBe("interrupted");
  for (const { state } of await store.list({ children: true })) expect(state).toBe("idle");
});
