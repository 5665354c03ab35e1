import { expect, test } from "vitest";
import { defineTool } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

const asks = defineTool({
  name: "asks",
  toolset: "test",
  description: "Asks a model.",
  parameters: { type: "object", properties: {} },
  permissions: [],
  handler(_args, ctx) {
    ctx.reportUsage(
      { inputTokens: 100, cachedTokens: 70, cacheWriteTokens: 10, outputTokens: 5, costUsd: 0.25 },
      "tiny-1",
      "vision",
    );
    return "seen";
  },
});

const outer = defineTool({
  name: "outer",
  toolset: "test",
  description: "Calls another.",
  parameters: { type: "object", properties: {} },
  permissions: [],
  async handler(_args, ctx) {
    const nested = ctx.openTools();
    await nested.call({ name: "asks", arguments: {} });
    nested.close();
    return "done";
  },
});

const writes = defineTool({
  name: "writes",
  toolset: "test",
  description: "Writes for a while.",
  parameters: { type: "object", properties: {} },
  permissions: ["file:write"],
  effects: (_args, { cwd }) => [
    { action: "file:write", resource: `${cwd}/a`, mode: "write", ask: { reason: "always asked" } },
  ],
  handler: () => new Promise((resolve) => setTimeout(() => resolve("written"), 60)),
});

test("lesson 103: of the tokens a call took each is in one part, and the parts are all of them", async () => {
  const { runtime } = await testRuntime([asks], { journal: true });
  const session = await runtime.openSession();
  await session.call({ name: "asks" });
  const [row] = await (await runtime.journal()).recent({ limit: 1 });
  expect(row).toMatchObject({
    toolset: "test",
    model: "tiny-1",
    input_tokens: 20,
    cached_tokens: 70,
    cache_write_tokens: 10,
    output_tokens: 5,
    cost_usd: 0.25,
    unbilled: true,
    result_tokens: 1,
  });
  expect(await (await runtime.journal()).result(row?.result_hash ?? "", row?.seq)).toBe("seen");
});

test("a call made from inside another names it, and can be found by it", async () => {
  const { runtime } = await testRuntime([asks, outer], { journal: true });
  const session = await runtime.openSession({ model: "big-1" });
  await session.call({ id: "o1", name: "outer" });
  const journal = await runtime.journal();
  const children = await journal.recent({ limit: 5, parent: "o1" });
  expect(children).toMatchObject([
    { tool: "asks", parent: "o1", parent_session: session.id, model: "big-1" },
  ]);
  const found = await journal.call("o1");
  expect(found).toMatchObject({ tool: "outer", call_id: "o1" });
  expect(found?.parent).toBeUndefined();
  expect(await journal.call(found?.seq ?? 0)).toEqual(found);
  expect(await journal.call("o")).toBeUndefined();
});

test("how long a call waited for its turn and for an answer is written down, with the question", async () => {
  const { runtime } = await testRuntime([writes], { journal: true });
  const questions: string[] = [];
  const session = await runtime.openSession({
    approver: async ({ id }) => {
      questions.push(id);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return "once" as const;
    },
  });
  await Promise.all([session.call({ name: "writes" }), session.call({ name: "writes" })]);
  const rows = await (await runtime.journal()).recent({ limit: 5 });
  expect(rows.map(({ approval }) => approval).sort()).toEqual(questions.sort());
  for (const { approval_wait_ms } of rows) expect(approval_wait_ms).toBeGreaterThan(20);
  expect(rows.filter(({ queued_ms = 0 }) => queued_ms > 20)).toHaveLength(1);
});

test("a call is found by the conversation it was made in, and tells where it worked", async () => {
  const { runtime, cwd } = await testRuntime([asks, outer], { journal: true });
  const session = await runtime.openSession({ conversation: "c_1", cwd });
  await session.call({ id: "o1", name: "outer" });
  await session.openChild({ conversation: "c_2" }).call({ id: "o2", name: "asks" });
  await (await runtime.openSession()).call({ id: "o3", name: "asks" });
  const journal = await runtime.journal();
  const first = await journal.recent({ limit: 9, conversation: "c_1" });
  expect(first.map(({ tool }) => tool).sort()).toEqual(["asks", "outer"]);
  for (const row of first) expect(row).toMatchObject({ conversation: "c_1", cwd });
  expect(await journal.recent({ limit: 9, conversation: "c_2" })).toMatchObject([{ call_id: "o2" }]);
  const alone = await journal.call("o3");
  expect(alone?.tool).toBe("asks");
  expect(alone).not.toHaveProperty("conversation");
});

test("of calls with one id, that of a session or a conversation is found", async () => {
  const { runtime } = await testRuntime([asks], { journal: true });
  const first = await runtime.openSession({ conversation: "c_1" });
  const second = await runtime.openSession();
  await first.call({ id: "call_1", name: "asks" });
  await second.call({ id: "call_1", name: "asks" });
  const journal = await runtime.journal();
  expect((await journal.call("call_1"))?.session_id).toBe(second.id);
  expect((await journal.call("call_1", { sessionId: first.id }))?.session_id).toBe(first.id);
  expect((await journal.call("call_1", { conversation: "c_1" }))?.session_id).toBe(first.id);
  expect(await journal.call("call_1", { conversation: "c_2" })).toBeUndefined();
});
