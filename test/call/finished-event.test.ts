import { expect, it } from "vitest";
import { defineTool, type RuntimeEvent } from "../../src/index.js";
import { modelServer } from "../reviewer/model-server.js";
import { testRuntime } from "../support/runtime.js";

type Finished = Extract<RuntimeEvent, { type: "call.finished" }>;

const read = defineTool({
  name: "look",
  description: "Looks",
  parameters: { type: "object" },
  effects: () => [],
  handler: (_args, ctx) => {
    ctx.reportUsage({ inputTokens: 10, outputTokens: 2 }, "small-1");
    ctx.reportUsage({ inputTokens: 1, outputTokens: 1 });
    return "seen";
  },
});

const outer = defineTool({
  name: "outer",
  description: "Calls look",
  parameters: { type: "object" },
  effects: () => [],
  async handler(_args, ctx) {
    const nested = ctx.openTools();
    await nested.call({ name: "look", arguments: {} });
    nested.close();
    return "done";
  },
});

async function listening(...[tools, options]: Parameters<typeof testRuntime>) {
  const made = await testRuntime(tools, options);
  const finished: Finished[] = [];
  made.runtime.events.on((event) => void (event.type === "call.finished" && finished.push(event)));
  return { ...made, finished };
}

it("tells door, environment, decision, rule and what models took", async () => {
  const { runtime, finished } = await listening([read]);
  const session = await runtime.openSession({ door: "cli" });
  await session.call({ id: "c1", name: "look" });
  expect(finished).toMatchObject([
    {
      id: "c1",
      door: "cli",
      environment: "local",
      decision: "allow",
      rule: expect.stringMatching(/./),
      model: "small-1",
      tokens: { input: 11, output: 3 },
    },
  ]);
  expect(JSON.parse(JSON.stringify(finished[0]))).not.toHaveProperty("parent");
});

it("names the call it was made from and the model that makes the calls", async () => {
  const { runtime, finished } = await listening([read, outer]);
  const session = await runtime.openSession({ model: "large-1" });
  await session.call({ id: "up/per", name: "outer" });
  expect(
    finished.map(({ name, door, parent, parent_session, model }) => ({
      name,
      door,
      parent,
      parent_session,
      model,
    })),
  ).toEqual([
    { name: "look", door: "script", parent: "up/per", parent_session: session.id, model: "large-1" },
    { name: "outer", door: "library", parent: undefined, parent_session: undefined, model: "large-1" },
  ]);
});

it("tells how a question was answered, by whom it was refused, and that an unknown tool met no decision", async () => {
  const policy = { decide: () => ({ verdict: "ask", rule: "always-ask" }) as const };
  const { runtime, finished } = await listening([read], { policy });
  const yes = await runtime.openSession({ approver: { ask: async () => "once" } });
  const nobody = await runtime.openSession();
  await yes.call({ name: "look" });
  await nobody.call({ name: "look" });
  await nobody.call({ name: "nothing" });
  expect(finished.map(({ decision, rule, code }) => [decision, rule, code])).toEqual([
    ["ask:once", "always-ask", undefined],
    ["ask:nobody", "always-ask", "denied"],
    [undefined, undefined, "not_found"],
  ]);
});

it("counts what a reviewer model took", async () => {
  await using server = await modelServer({
    body: JSON.stringify({
      choices: [{ message: { content: '{"decision":"APPROVE","reason":"fine"}' }, finish_reason: "stop" }],
      usage: { prompt_tokens: 300, completion_tokens: 20 },
    }),
  });
  const quiet = defineTool({
    name: "remove",
    description: "Removes",
    parameters: { type: "object" },
    permissions: ["terminal:execute"],
    effects: () => [{ action: "terminal:execute", resource: "rm -rf build", mode: "execute" }],
    handler: () => "removed",
  });
  const { runtime, finished } = await listening([quiet], {
    flags: {
      "approvals.mode": "smart",
      "approvals.reviewer.url": server.url,
      "approvals.reviewer.model": "judge-1",
    },
  });
  await (await runtime.openSession()).call({ name: "remove" });
  expect(finished).toMatchObject([
    { ok: true, decision: "ask:reviewer", model: "judge-1", tokens: { input: 300, output: 20 } },
  ]);
});
