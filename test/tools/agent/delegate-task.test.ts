import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ModelClient, ModelRequest } from "../../../src/model/model-client.js";
import { agentWith, call, calls, type Step, says } from "../../agent/support.js";
import { tempDir, testRuntime } from "../../support/runtime.js";

/** Children answer by what they were given: the first user message decides. */
function children(answer: (goal: string, request: ModelRequest, asked: number) => Step) {
  const asked: ModelRequest[] = [];
  const counts = new Map<string, number>();
  const client: ModelClient = {
    async *stream(request) {
      asked.push(request);
      const first = request.messages.find(({ role }) => role === "user");
      const goal = typeof first?.content === "string" ? first.content : "";
      const count = (counts.get(goal) ?? 0) + 1;
      counts.set(goal, count);
      const step = answer(goal, request, count);
      yield* typeof step === "function" ? step(request) : step;
    },
  };
  return { client, asked };
}

interface Told {
  readonly results: readonly {
    readonly task_index: number;
    readonly status: string;
    readonly summary: string;
    readonly exit_reason: string;
    readonly tool_trace: readonly unknown[];
  }[];
}

const delegate = async (
  session: Awaited<ReturnType<typeof agentWith>>["agent"]["session"],
  args: unknown,
): Promise<Told> => {
  const { structured, error } = await session.call({ name: "delegate_task", arguments: args });
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  return structured as Told;
};

const toolNames = ({ tools = [] }: ModelRequest) => tools.map(({ name }) => name);

describe("delegate_task", () => {
  it("answers in the order of the tasks, each with what it was given and the shared context", async () => {
    const { client, asked } = children((goal) => says(`done: ${goal.split("\n")[0]}`));
    const { agent } = await agentWith(client);
    const { results } = await delegate(agent.session, {
      context: "in ~/project",
      tasks: [{ goal: "one" }, { goal: "two", context: "quickly" }],
    });
    expect(results).toMatchObject([
      { task_index: 0, status: "completed", summary: "done: one" },
      { task_index: 1, status: "completed", summary: "done: two" },
    ]);
    expect(asked.map(({ messages }) => messages[1]?.content).sort()).toEqual([
      "one\n\nin ~/project",
      "two\n\nin ~/project\n\nquickly",
    ]);
  });

  it("toolsets only take away: what the parent has not, no child gets", async () => {
    const { client, asked } = children(() => says("ok"));
    const { agent } = await agentWith(client, { toolsets: ["file", "delegation"] });
    await delegate(agent.session, { goal: "look", toolsets: ["file", "terminal", "delegation"] });
    expect(toolNames(asked[0] ?? { messages: [] }).sort()).toEqual([
      "patch",
      "read_file",
      "search_files",
      "write_file",
    ]);
  });

  it("a child has only tools whose state it has: no memory, no earlier conversations, its own list", async () => {
    const { client, asked } = children(() => says("ok"));
    const { agent } = await agentWith(client);
    await delegate(agent.session, { goal: "look" });
    const names = toolNames(asked[0] ?? { messages: [] });
    expect(names).toContain("todo");
    for (const absent of ["session_search", "memory", "skill_manage", "mixture_of_agents"])
      expect(names).not.toContain(absent);
  });

  it("lesson 79: children hand nothing on, by whatever name they try, and one budget pays for all", async () => {
    const { client, asked } = children((_goal, _request, count) =>
      count === 1 ? calls(call("d", "delegate_task", { goal: "deeper" })) : says("could not"),
    );
    const { agent, store } = await agentWith(client, {
      // Not all that this machine has: what their definitions cost would decide.
      toolsets: ["file", "delegation"],
      prices: { input: 10, output: 10 },
      budget: () => ({ sessionUsd: 0.03 }),
    });
    await delegate(agent.session, { goal: "first" });
    expect(asked.filter(({ messages }) => JSON.stringify(messages[1]).includes("deeper"))).toEqual([]);
    expect(JSON.stringify(asked[1]?.messages.at(-1))).toContain("Unknown tool");
    const spent = await store.spent({ session: agent.conversation });
    expect(spent).toBeGreaterThan(0);
    // The next ones find the budget used up and are told so, instead of beginning anew with their own.
    const tasks = Array.from({ length: 10 }, (_, index) => ({ goal: `more ${index}` }));
    const { results } = await delegate(agent.session, { tasks });
    expect(results.some(({ summary }) => summary.includes("The budget is used up"))).toBe(true);
    expect(await store.spent({ session: agent.conversation })).toBeLessThan(0.03);
  });

  it("lesson 80: each child has a status and what it came to, also when it ran out of turns", async () => {
    const { client } = children((goal, _request, count) => {
      if (goal.includes("endless")) return calls(call(`s${count}`, "sleep", { seconds: 0 }));
      if (goal.includes("broken")) throw new Error("no connection");
      return says("fine");
    });
    const { agent, store } = await agentWith(client);
    const { results } = await delegate(agent.session, {
      tasks: [{ goal: "endless" }, { goal: "broken" }, { goal: "easy" }],
      max_iterations: 2,
    });
    expect(results.map(({ status }) => status)).toEqual(["failed", "failed", "completed"]);
    expect(results[0]?.summary).toContain("no turns left");
    expect(results[0]).toMatchObject({
      exit_reason: "max_turns",
      tool_trace: [
        { tool: "sleep", ok: true },
        { tool: "sleep", ok: true },
      ],
    });
    // Why it failed is told to whoever sent it.
    expect(results[1]?.summary).toContain("no connection");
    const kin = await store.list({ children: true });
    for (const { state } of kin.filter(({ parent }) => parent !== undefined)) expect(state).toBe("idle");
  });

  it("a call whose time is over tells what each child came to, and not that it can be called again", async () => {
    const { client } = children((goal) =>
      goal.includes("long") ? calls(call("s", "sleep", { seconds: 60 })) : says("fine"),
    );
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "tools: { timeout_seconds: 1 }\n");
    const { agent } = await agentWith(client, { home });
    const { error, content } = await agent.session.call({
      name: "delegate_task",
      arguments: { tasks: [{ goal: "long" }, { goal: "short" }] },
    });
    expect(error).toMatchObject({ code: "timeout", hint: expect.not.stringContaining("only reads") });
    const [first] = content;
    const told = JSON.parse(first?.type === "text" ? first.text : "{}").until_then as Told;
    expect(told.results.map(({ status }) => status)).toEqual(["timeout", "completed"]);
  });

  it("without a task it is told what is missing; without an agent it is not there", async () => {
    const { client } = children(() => says("ok"));
    const { agent } = await agentWith(client);
    await expect(delegate(agent.session, {})).rejects.toThrow("invalid_arguments");
    const { runtime } = await testRuntime([], { builtins: true });
    const offered = await (await runtime.openSession()).definitions();
    expect(offered.map((tool) => tool.function.name)).not.toContain("delegate_task");
  });
});
